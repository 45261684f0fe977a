import { expected } from '../job/expectation.js';
import type { ClaimedJob } from '../job/job.js';
import { duration, either, problemOf } from '../job/option-schema.js';
import { outcomeAfterError, type Outcome } from '../job/outcome.js';
import type { RetryPolicy } from '../job/retry-options.js';
import { storedError } from '../job/stored-error.js';
import type { RuleParts } from '../job/user-rule.js';
import { toMs, type Duration } from '../common/units.js';
import type { MaybePromise } from '../common/maybe-promise.js';

export interface FailOptions {
  /** The error, which is stored with the job. A text must not be empty. */
  readonly error: Error | string;
  /** The time until the retry, or false to end the job as dead. Default: the `retry` options of the queue. */
  readonly retry?: Duration | false;
}

export function failOptionProblems(given: unknown): (string | undefined)[] {
  const { error, retry } = (given ?? {}) as Partial<FailOptions>;
  const isError = typeof error === 'object' && error !== null && 'message' in error;
  return [
    expected(isError || (typeof error === 'string' && error !== ''), 'error to be an Error or a text', error),
    retry === undefined ? undefined : problemOf('retry', either(false, duration), retry),
  ];
}

export function outcomeAfterFailure(
  job: ClaimedJob,
  { error, retry }: FailOptions,
  policy: RetryPolicy,
  parts: RuleParts,
): MaybePromise<Outcome> {
  const thrown = typeof error === 'string' ? errorFromText(error) : error;
  if (retry === false) return { kind: 'dead', error: storedError(thrown) };
  if (retry === undefined) return outcomeAfterError(job, thrown, policy, parts);
  const delayMs = toMs(retry)!;
  return outcomeAfterError({ ...job, overrides: null }, thrown, { ...policy, backoff: () => delayMs }, parts);
}

/** Without a stack, which would point into the library. */
function errorFromText(text: string): Error {
  return Object.assign(new Error(text), { stack: undefined });
}
