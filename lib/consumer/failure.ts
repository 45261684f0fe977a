import { expected } from '../job/expectation.js';
import type { ClaimedJob } from '../job/job.js';
import { afterError, type Outcome } from '../job/outcome.js';
import type { RetryPolicy } from '../job/retry-options.js';
import { storedError } from '../job/stored-error.js';
import type { MaybeLater, RuleParts } from '../job/user-rule.js';
import { DURATION_EXPECTED, toMs, type Duration } from '../time/duration.js';

export interface FailOptions {
  /** What went wrong, kept with the job. */
  readonly error: Error | string;
  /** So much later; false: never again, the job is dead. Default: as the queue's `retry` says. */
  readonly retry?: Duration | false;
}

export function failureProblems(given: unknown): (string | undefined)[] {
  const { error, retry } = (given ?? {}) as Partial<FailOptions>;
  const isError = typeof error === 'object' && error !== null && 'message' in error;
  return [
    expected(isError || (typeof error === 'string' && error !== ''), 'error to be an Error or a text', error),
    expected(
      retry === undefined || retry === false || toMs(retry) !== undefined,
      `retry to be false or ${DURATION_EXPECTED}`,
      retry,
    ),
  ];
}

/** What becomes of a job whose holder says that it failed. */
export function afterFailure(
  job: ClaimedJob,
  { error, retry }: FailOptions,
  policy: RetryPolicy,
  parts: RuleParts,
): MaybeLater<Outcome> {
  const thrown = typeof error === 'string' ? said(error) : error;
  if (retry === false) return { kind: 'dead', error: storedError(thrown) };
  if (retry === undefined) return afterError(job, thrown, policy, parts);
  const delayMs = toMs(retry)!;
  return afterError({ ...job, overrides: null }, thrown, { ...policy, backoff: () => delayMs }, parts);
}

/** What a person says has no place in the code. */
function said(text: string): Error {
  return Object.assign(new Error(text), { stack: undefined });
}
