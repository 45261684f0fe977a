import { andThen, type MaybePromise } from '../common/maybe-promise.js';
import { resolveBackoff } from './backoff.js';
import { callWithJob } from './failed-job.js';
import { hasCode, JobExpiredError, LeaseExpiredError, WorkerLostError } from './errors.js';
import type { ClaimedJob } from './job.js';
import { encodeResult, type ContentOptions } from './job-content.js';
import type { JobOverrides } from './job-overrides.js';
import type { JobEventName } from './queue-event.js';
import type { RetryPolicy } from './retry-options.js';
import type { Delay } from './snooze.js';
import { readableError, storedError, type StoredError } from './stored-error.js';
import { evaluateRule, type RuleParts } from './user-rule.js';

/** The decision about a claimed job after its attempt. */
export type Outcome =
  | {
      readonly kind: 'complete';
      readonly result: string | null;
      /** The reason if the result could not be stored. */
      readonly error?: StoredError;
    }
  | { readonly kind: 'retry'; readonly delayMs: number; readonly error: StoredError }
  | { readonly kind: 'dead'; readonly error: StoredError }
  | {
      readonly kind: 'cancel';
      /** The reason if no caller has cancelled the job. */
      readonly error?: StoredError;
    }
  | {
      readonly kind: 'release';
      /** No job of the queue starts for this time. */
      readonly rest?: Delay;
    }
  /** The job waits for its children. */
  | { readonly kind: 'block' }
  | ({
      readonly kind: 'snooze';
      /** The signal that ends the time early: see StepStore. */
      readonly signal?: string;
    } & Delay);

export function isFinalOutcome({ kind }: Outcome): boolean {
  return kind === 'complete' || kind === 'dead' || kind === 'cancel';
}

/** The word for an outcome in instrumentations, which is also that of its event. */
export const OUTCOME_OF = {
  complete: 'completed',
  retry: 'failed',
  dead: 'dead',
  release: 'released',
  snooze: 'snoozed',
  block: 'blocked',
  cancel: 'cancelled',
} as const satisfies Record<Outcome['kind'], JobEventName>;

export function eventsOf(outcome: Outcome): OutcomeEvent[] {
  const error = 'error' in outcome ? { error: outcome.error } : {};
  const delay = 'delayMs' in outcome ? { delayMs: outcome.delayMs } : {};
  const event: OutcomeEvent = { event: OUTCOME_OF[outcome.kind], ...error, ...delay };
  return outcome.kind === 'dead' ? [{ event: 'failed', ...error }, event] : [event];
}

export interface OutcomeEvent {
  readonly event: JobEventName;
  readonly error?: StoredError;
  readonly delayMs?: number;
}

export type Completed = Extract<Outcome, { kind: 'complete' }>;

/** The outcome of jobs without a result. They share one object, because each of their own would live until its commit. */
export const COMPLETED: Completed = { kind: 'complete', result: null };

/**
 * The job completes even if its result cannot be stored. Never rejects.
 *
 * @param timeoutMs the timeout of the job: a codec or a blob store that hangs must not keep it from its end
 */
export function completeOutcome(
  queue: string,
  result: unknown,
  options: ContentOptions,
  timeoutMs: number | false = false,
): MaybePromise<Completed> {
  if (result === undefined) return COMPLETED;
  try {
    const encoded = encodeResult(queue, result, options, 'result', timeoutMs);
    return encoded instanceof Promise ? encoded.then(completeWith, completeDespite) : completeWith(encoded);
  } catch (error) {
    return completeDespite(error);
  }
}

function completeWith(result: string | null): Completed {
  return { kind: 'complete', result };
}

function completeDespite(error: unknown): Completed {
  return completeWithoutResult(storedError(error).message);
}

export function completeWithoutResult(problem: string): Completed {
  return {
    kind: 'complete',
    result: null,
    error: { name: 'ResultInvalidError', code: 'RESULT_INVALID', message: problem },
  };
}

// The caller of a request reads the result and deletes it. If the caller has died, the pruner deletes it.
const REPLY_RETENTION_MS = 60_000;
// Callers that received the job of another caller may still read its outcome.
const MIN_KEYED_RETENTION_MS = 600_000;

/**
 * How long the history keeps the job; false: it does not. A job with a key stays for ten minutes more than it owns the
 * key, or longer.
 */
export function jobRetentionMs(
  overrides: JobOverrides | null,
  isCompleted: boolean,
  queueRetentionMs: number | false,
): number | false {
  if (overrides === null) return queueRetentionMs;
  if (overrides.reply) return REPLY_RETENTION_MS;
  const { completedMs = queueRetentionMs, deadMs = queueRetentionMs } = overrides.retention ?? {};
  const retentionMs = isCompleted ? completedMs : deadMs;
  if (overrides.key === undefined) return retentionMs;
  const ownedMs = typeof overrides.keyUntil === 'number' ? overrides.keyUntil : 0;
  return Math.max(retentionMs || 0, ownedMs + MIN_KEYED_RETENTION_MS);
}

/** Whether any worker can claim the job again at once. */
export function isClaimableAtOnce(outcome: Outcome): boolean {
  return outcome.kind === 'release' || (outcome.kind === 'retry' && outcome.delayMs === 0);
}

/** The outcome of a job that cannot run: it is malformed, or has expired. */
export function outcomeWithoutRun({ id, queue, malformed, isExpired }: ClaimedJob): Outcome | undefined {
  if (malformed) return { kind: 'dead', error: storedError(malformed) };
  return isExpired ? { kind: 'cancel', error: storedError(new JobExpiredError(id, queue)) } : undefined;
}

export function outcomeAfterError(
  job: ClaimedJob,
  thrown: unknown,
  policy: RetryPolicy,
  parts: RuleParts,
): MaybePromise<Outcome> {
  const error = readableError(thrown);
  const dead: Outcome = { kind: 'dead', error: storedError(error) };
  if (job.attempt >= job.maxAttempts || hasCode(error, 'UNRECOVERABLE')) return dead;
  return andThen(isWorthRetrying(job, error, policy, parts), (isWorth) =>
    isWorth ? outcomeAfterBackoff(job, error, policy, parts) : dead,
  );
}

function isWorthRetrying(
  job: ClaimedJob,
  error: Error,
  { retryIf }: RetryPolicy,
  parts: RuleParts,
): MaybePromise<boolean> {
  if (!retryIf) return true;
  const rule = {
    name: 'retryIf',
    call: () => callWithJob(job, parts, (failed) => retryIf(error, job.attempt, failed)),
    parse: (answer: unknown) => (typeof answer === 'boolean' ? answer : undefined),
    expected: 'true or false',
    fallback: () => true,
  };
  return evaluateRule(rule, parts);
}

function outcomeAfterBackoff(
  job: ClaimedJob,
  error: Error,
  policy: RetryPolicy,
  parts: RuleParts,
): MaybePromise<Outcome> {
  const { backoff } = job.overrides ?? {};
  const rule = backoff === undefined ? policy.backoff : resolveBackoff(backoff);
  return andThen(rule(job, error, parts), (delayMs) =>
    delayMs === false
      ? { kind: 'dead', error: storedError(error) }
      : { kind: 'retry', delayMs, error: storedError(error) },
  );
}

/** If the job may have started, the attempt counts. A first one is repeated at once: deployments also end workers. */
export function outcomeAfterExpiredLease(
  job: ClaimedJob,
  expired: ExpiredLease,
  mayHaveStarted: boolean,
  policy: RetryPolicy,
  parts: RuleParts,
): MaybePromise<Outcome> {
  if (!mayHaveStarted) return { kind: 'release' };
  const error = expiredLeaseError(expired);
  if (job.attempt >= job.maxAttempts) return { kind: 'dead', error: storedError(error) };
  if (job.attempt === 1) return { kind: 'retry', delayMs: 0, error: storedError(error) };
  return outcomeAfterBackoff(job, error, policy, parts);
}

export interface ExpiredLease {
  readonly workerId: string;
  /** Null: the worker held the job. An empty text: the bearer of its token did. */
  readonly owner: string | null;
}

export interface ExpiredLeaseJob extends ClaimedJob, ExpiredLease {
  /** Whether its attempt counts. */
  readonly mayHaveStarted: boolean;
}

export function expiredLeaseError({ workerId, owner }: ExpiredLease): Error {
  return owner === null ? new WorkerLostError(workerId) : new LeaseExpiredError(owner);
}

/**
 * Whether a job may have killed its worker: its last attempt lost the worker and was not its first. Such a job runs
 * alone, so that the jobs beside it do not lose attempts with it.
 */
export function isPoisonCandidate(job: ClaimedJob): boolean {
  return job.attempt > 2 && hasCode(job.lastError, 'WORKER_LOST');
}

export function inStartOrder(jobs: ClaimedJob[]): ClaimedJob[] {
  if (!jobs.some(isPoisonCandidate)) return jobs;
  return [...jobs.filter((job) => !isPoisonCandidate(job)), ...jobs.filter(isPoisonCandidate)];
}

/** How many jobs at the head may start together: those before the first poison candidate, or one candidate. */
export function countStartable(poisonCandidates: readonly boolean[]): number {
  const first = poisonCandidates.indexOf(true);
  return first === -1 ? poisonCandidates.length : Math.max(1, first);
}

/** The lease of a claim: the longest of those of its queue and its jobs. */
export function claimLeaseMs(
  queueLeaseMs: number,
  jobs: readonly { readonly overrides: JobOverrides | null }[],
): number {
  let longestMs = queueLeaseMs;
  for (const { overrides } of jobs) {
    if (overrides?.leaseMs !== undefined && overrides.leaseMs > longestMs) longestMs = overrides.leaseMs;
  }
  return longestMs;
}

/** A job whose row is malformed may be in a flow, because its options are unknown. */
export function mayBeInFlow({ overrides, malformed }: Pick<ClaimedJob, 'overrides' | 'malformed'>): boolean {
  return overrides?.flow !== undefined || malformed !== undefined;
}
