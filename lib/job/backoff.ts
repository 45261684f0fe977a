import { DURATION_EXPECTED, toMs, type Duration } from '../common/units.js';
import type { MaybePromise } from '../common/maybe-promise.js';
import { BACKOFF_FIELDS, delayOf, type BackoffOptions } from './backoff-options.js';
import { expected, isOptions } from './expectation.js';
import { callWithJob, type FailedJob } from './failed-job.js';
import type { ClaimedJob } from './job.js';
import type { Option } from './option-schema.js';
import { evaluateRule, type RuleParts } from './user-rule.js';

/**
 * A fixed delay, backoff options, or a function that returns the delay and may be async. The function receives the
 * number of the attempt that failed (1 = first), its error, and the job; if it returns false, the job is dead. If the
 * function throws, returns another value or takes longer than 5 s, the library logs a warning and the default backoff
 * applies.
 */
export type Backoff =
  | Duration
  | BackoffOptions
  | ((attempt: number, error: Error, job: FailedJob) => Duration | false | Promise<Duration | false>);

/** Milliseconds before the next attempt; false: the job is not retried. */
export type ResolvedBackoff = (job: ClaimedJob, error: Error, parts: RuleParts) => MaybePromise<number | false>;

export const BACKOFF: Option<ResolvedBackoff> = {
  problems: (name, value) => {
    if (typeof value === 'function') return [];
    if (isOptions(value)) return BACKOFF_FIELDS.problems(name, value);
    return [expected(toMs(value) !== undefined, `${name} to be ${DURATION_EXPECTED}, options or a function`, value)];
  },
  resolve: (value) => resolveBackoff(value as Backoff | undefined),
};

/** The backoff has been checked. */
export function resolveBackoff(backoff: Backoff = {}): ResolvedBackoff {
  if (typeof backoff === 'function') {
    return (job, error, parts) => {
      const rule = {
        name: 'backoff',
        call: () => callWithJob(job, parts, (failed) => backoff(job.attempt, error, failed)),
        parse: (answer: unknown) => (answer === false ? false : toMs(answer)),
        expected: `${DURATION_EXPECTED} or false`,
        fallback: () => delayOf({}, job.attempt, parts.random),
      };
      return evaluateRule<number | false>(rule, parts);
    };
  }
  const options = typeof backoff === 'object' ? backoff : ({ type: 'fixed', delay: backoff } as const);
  return ({ attempt }, _error, { random }) => delayOf(options, attempt, random);
}
