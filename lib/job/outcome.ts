import { backoffMs } from './backoff.js';
import { hasCode, LeaseEndedError, WorkerLostError } from './errors.js';
import type { ClaimedJob } from './job.js';
import type { ChangeName } from './queue-event.js';
import type { RetryPolicy } from './retry-options.js';
import { readableError, storedError, type StoredError } from './stored-error.js';

/** What becomes of a claimed job. */
export type Outcome =
  | { readonly kind: 'complete'; readonly result: string | null }
  | { readonly kind: 'retry'; readonly delayMs: number; readonly error: StoredError }
  | { readonly kind: 'dead'; readonly error: StoredError }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'release' }
  | { readonly kind: 'snooze'; readonly delayMs: number };

/** Whether the job goes no further. */
export function isFinal({ kind }: Outcome): boolean {
  return kind === 'complete' || kind === 'dead' || kind === 'cancel';
}

const EVENT_OF = {
  complete: 'completed',
  retry: 'failed',
  dead: 'failed',
  release: 'released',
  snooze: 'snoozed',
  cancel: 'cancelled',
} as const satisfies Record<Outcome['kind'], ChangeName>;

/** What listeners are told of it. */
export function eventsOf(outcome: Outcome): OutcomeEvent[] {
  const error = 'error' in outcome ? { error: outcome.error } : {};
  const delay = 'delayMs' in outcome ? { delayMs: outcome.delayMs } : {};
  const told: OutcomeEvent = { event: EVENT_OF[outcome.kind], ...error, ...delay };
  return outcome.kind === 'dead' ? [told, { event: 'dead', ...error }] : [told];
}

export interface OutcomeEvent {
  readonly event: ChangeName;
  readonly error?: StoredError;
  readonly delayMs?: number;
}

/** The parts of a job that its fate depends on. */
export type Tried = Pick<ClaimedJob, 'attempt' | 'maxAttempts' | 'overrides'>;

/** Whether anybody can claim the job again at once. */
export function waitsAgain(outcome: Outcome): boolean {
  return outcome.kind === 'release' || (outcome.kind === 'retry' && outcome.delayMs === 0);
}

/** What becomes of a job whose handler threw. */
export function afterError(job: Tried, thrown: unknown, policy: RetryPolicy, random: () => number): Outcome {
  const error = readableError(thrown);
  const dead: Outcome = { kind: 'dead', error: storedError(error) };
  if (job.attempt >= job.maxAttempts) return dead;
  if (hasCode(error, 'UNRECOVERABLE') || !isWorthRetrying(error, job.attempt, policy)) return dead;
  const delayMs = backoffOf(job, policy)(job.attempt, error, random);
  return delayMs === false ? dead : { kind: 'retry', delayMs, error: storedError(error) };
}

/** A rule of the user's that throws itself decides nothing. */
function isWorthRetrying(error: Error, attempt: number, { retryIf }: RetryPolicy): boolean {
  try {
    return retryIf?.(error, attempt) !== false;
  } catch {
    return true;
  }
}

/**
 * What becomes of a job whose worker or holder fell silent. Where it may have begun it has used up an attempt; the first time it
 * may run again at once, since workers also die of deployments, from the second time on it waits as after an error.
 */
export function afterSilence(
  job: Tried,
  silent: Silent,
  mayHaveBegun: boolean,
  policy: RetryPolicy,
  random: () => number,
): Outcome {
  if (!mayHaveBegun) return { kind: 'release' };
  const error = silenceError(silent);
  if (job.attempt >= job.maxAttempts) return { kind: 'dead', error: storedError(error) };
  const delayMs = job.attempt === 1 ? 0 : backoffOf(job, policy)(job.attempt, error, random);
  if (delayMs === false) return { kind: 'dead', error: storedError(error) };
  return { kind: 'retry', delayMs, error: storedError(error) };
}

/** Who let a job's lease end. */
export interface Silent {
  readonly workerId: string;
  /** Null: the worker ran it. Else whoever held it, with no name where that was by its token. */
  readonly owner: string | null;
}

export function silenceError({ workerId, owner }: Silent): Error {
  return owner === null ? new WorkerLostError(workerId) : new LeaseEndedError(owner);
}

/**
 * Whether a job is suspected of killing its worker: it went down with one, and not in its first run. It is begun alone,
 * so that whoever runs beside a killer does not use up its attempts with it.
 */
export function isSuspect(job: ClaimedJob): boolean {
  return job.attempt > 2 && hasCode(job.lastError, 'WORKER_LOST');
}

/** The order in which a claim's jobs begin: as they were claimed, but suspects last. */
export function inStartOrder(jobs: ClaimedJob[]): ClaimedJob[] {
  if (!jobs.some(isSuspect)) return jobs;
  return [...jobs.filter((job) => !isSuspect(job)), ...jobs.filter(isSuspect)];
}

/** How many at the head of such a list may begin together: all before the first suspect, or one suspect. */
export function startable(suspects: readonly boolean[]): number {
  const first = suspects.indexOf(true);
  return first === -1 ? suspects.length : Math.max(1, first);
}

function backoffOf(job: Tried, policy: RetryPolicy) {
  return job.overrides?.backoff === undefined ? policy.backoff : backoffMs(job.overrides.backoff);
}
