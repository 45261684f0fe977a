import { expected, isOptions } from '../job/expectation.js';
import { flag, problemOf } from '../job/option-schema.js';
import { snoozeProblem, type SnoozeUntil } from '../job/snooze.js';
import { holderProblems, type ClaimHolder } from './claim-holder.js';
import type { AssignmentTransaction } from './transaction-option.js';

export type SnoozeOptions = ClaimHolder &
  AssignmentTransaction & {
    /** The time from now as a duration, or a Date between 1970 and 9999. */
    until: SnoozeUntil;
    /** Whether the owner keeps the job and gets it back at that time. Default false: then any claim can take it. */
    keepOwner?: boolean;
  };

export function snoozeProblems(given: unknown): (string | undefined)[] {
  const { until, keepOwner = false, owner } = (isOptions(given) ? given : {}) as Record<string, unknown>;
  return [
    ...holderProblems(given, ['until', 'keepOwner', 'manager']),
    snoozeProblem(until),
    problemOf('keepOwner', flag, keepOwner),
    expected(keepOwner !== true || owner !== undefined, 'owner beside keepOwner, instead of a token', owner),
  ];
}
