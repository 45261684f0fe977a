import { DURATION_EXPECTED, toMs, type Duration } from '../common/duration.js';
import type { MaybePromise } from '../common/maybe-promise.js';
import { expected, isOptions } from './expectation.js';
import { callWithJob, type FailedJob } from './failed-job.js';
import type { ClaimedJob } from './job.js';
import { duration, group, kind, oneOf, option, type Option, type SchemaOf } from './option-schema.js';
import { evaluateRule, type RuleParts } from './user-rule.js';

/** How long a failed job waits before its next attempt. */
export interface BackoffOptions {
  /** `fixed`: always `delay`. `exponential`: `delay`, 2 × `delay`, 4 × `delay` … Default `exponential`. */
  type?: 'fixed' | 'exponential';
  /** The delay before the second attempt. Default 1s. */
  delay?: Duration;
  /** The upper limit of an exponential delay. Default 10m. */
  max?: Duration;
  /**
   * A share of the delay, 0 to 1, by which a random number lengthens or shortens it. It spreads the retries of jobs
   * that failed together. Default 0.2 for an exponential backoff, 0 for a fixed one.
   */
  jitter?: number;
}

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

const FIELDS = group(
  {
    type: option(oneOf('fixed', 'exponential'), 'exponential'),
    delay: option(duration, '1s'),
    max: option(duration, '10m'),
    jitter: option(kind('0 to 1', isShare)),
  } satisfies SchemaOf<BackoffOptions>,
  'backoff.',
);

export const BACKOFF: Option<ResolvedBackoff> = {
  problems: (name, value) => {
    if (typeof value === 'function') return [];
    if (isOptions(value)) return FIELDS.problems(name, value);
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

function delayOf(options: BackoffOptions, attempt: number, random: () => number): number {
  const { type, delay, max, jitter = type === 'fixed' ? 0 : 0.2 } = FIELDS.resolve(options);
  const spread = 1 + jitter * (2 * random() - 1);
  if (type === 'fixed') return Math.round(delay * spread);
  return Math.round(Math.min(max, delay * 2 ** Math.min(attempt - 1, 50) * spread));
}

function isShare(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= 1;
}
