import { backoffMs, backoffProblems, type Backoff, type BackoffMs } from './backoff.js';
import { expected, isWhole, unknownKeys } from './expectation.js';

export interface RetryOptions {
  /** How often a job may be tried in all, 1 or more. Default 5. */
  attempts?: number;
  backoff?: Backoff;
  /**
   * False gives up at once: the job is dead whatever `attempts` says. May be async. If it fails, answers something else or takes
   * longer than 5 s, that is logged, and the job is tried again.
   */
  retryIf?(error: Error, attempt: number): boolean | Promise<boolean>;
}

export interface RetryPolicy {
  readonly attempts: number;
  readonly backoff: BackoffMs;
  readonly retryIf: RetryOptions['retryIf'];
}

/** What is said of retries, however it was: a number alone is one of attempts. */
export function asRetry(retry: number | RetryOptions | undefined): RetryOptions {
  return typeof retry === 'number' ? { attempts: retry } : (retry ?? {});
}

/** Fills in the defaults. The options have been checked. */
export function resolveRetry({ attempts = 5, backoff, retryIf }: RetryOptions): RetryPolicy {
  return { attempts, backoff: backoffMs(backoff), retryIf };
}

/** The ends of `attempts`, one number for options, `enqueue` and the column. */
export function attemptsProblem(attempts: unknown): string | undefined {
  return expected(isWhole(attempts, 1, 1_000_000), 'attempts to be a whole number from 1 to 1000000', attempts);
}

export function retryProblems(retry: unknown): (string | undefined)[] {
  if (retry === undefined) return [];
  if (typeof retry === 'number') return [attemptsProblem(retry)];
  if (typeof retry !== 'object' || retry === null) return [expected(false, 'retry to be a number or options', retry)];
  const { attempts = 1, backoff = 0, retryIf } = retry as RetryOptions;
  return [
    ...unknownKeys(retry, ['attempts', 'backoff', 'retryIf']),
    attemptsProblem(attempts),
    ...backoffProblems(backoff),
    expected(retryIf === undefined || typeof retryIf === 'function', 'retryIf to be a function', retryIf),
  ];
}
