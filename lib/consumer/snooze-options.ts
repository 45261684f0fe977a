import { expected, isOptions } from '../job/expectation.js';
import { snoozeProblem, type SnoozeUntil } from '../job/snooze.js';
import { holderProblems, type JobHolder } from './holder.js';

export type SnoozeOptions = JobHolder & {
  /** So long from now, or at that time. */
  until: SnoozeUntil;
  /** Whether the owner keeps the job and has it back at that time. Default false: it waits for any claim then. */
  keepOwner?: boolean;
};

export function snoozeProblems(given: unknown): (string | undefined)[] {
  const { until, keepOwner = false, owner } = (isOptions(given) ? given : {}) as Record<string, unknown>;
  return [
    ...holderProblems(given, ['until', 'keepOwner']),
    snoozeProblem(until),
    expected(typeof keepOwner === 'boolean', 'keepOwner to be true or false', keepOwner),
    expected(keepOwner !== true || owner !== undefined, 'owner beside keepOwner, instead of a token', owner),
  ];
}
