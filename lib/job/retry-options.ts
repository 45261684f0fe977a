import { BACKOFF, type Backoff, type ResolvedBackoff } from './backoff.js';
import type { FailedJob } from './failed-job.js';
import { expected, isOptions } from './expectation.js';
import { func, group, option, whole, type Option, type SchemaOf } from './option-schema.js';

/** How often, and when, a failed job runs again. */
export interface RetryOptions {
  /** Runs in all, the first one included, 1 to 1,000,000. Default 5. */
  attempts?: number;
  /** The delay before the next attempt. Default: exponential, from 1s to 10m, with a jitter of 0.2. */
  backoff?: Backoff;
  /**
   * Decides whether a failed job is retried; may be async. `attempt` is the number of the run that failed. False makes
   * the job dead, even if attempts remain. If the function throws, returns another value or takes longer than 5 s, the
   * library logs a warning and retries the job. Not asked if the lease of a job has expired, because its worker died.
   */
  retryIf?(error: Error, attempt: number, job: FailedJob): boolean | Promise<boolean>;
}

export interface RetryPolicy {
  readonly attempts: number;
  readonly backoff: ResolvedBackoff;
  readonly retryIf: RetryOptions['retryIf'];
}

const ATTEMPTS = option(whole(1, 1_000_000), 5);

const FIELDS = group({
  attempts: ATTEMPTS,
  backoff: BACKOFF,
  retryIf: option(func<NonNullable<RetryOptions['retryIf']>>()),
} satisfies SchemaOf<RetryOptions>);

export const RETRY: Option<RetryPolicy> = {
  problems: (name, value) => {
    if (typeof value === 'number') return ATTEMPTS.problems('attempts', value);
    return isOptions(value)
      ? FIELDS.problems(name, value)
      : [expected(false, `${name} to be a number or options`, value)];
  },
  resolve: (value) => FIELDS.resolve(asRetry(value as number | RetryOptions | undefined)),
};

export function asRetry(retry: number | RetryOptions | undefined): RetryOptions {
  return typeof retry === 'number' ? { attempts: retry } : (retry ?? {});
}
