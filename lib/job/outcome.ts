import { backoffMs } from './backoff.js';
import { hasCode, LeaseEndedError, WorkerLostError } from './errors.js';
import type { ClaimedJob } from './job.js';
import type { ChangeName } from './queue-event.js';
import type { RetryPolicy } from './retry-options.js';
import { readableError, storedError, type StoredError } from './stored-error.js';
import { after, askRule, type MaybeLater, type RuleParts } from './user-rule.js';

/** What becomes of a claimed job. */
export type Outcome =
  | {
      readonly kind: 'complete';
      readonly result: string | null;
      /** Why no result is kept. */ readonly error?: StoredError;
    }
  | { readonly kind: 'retry'; readonly delayMs: number; readonly error: StoredError }
  | { readonly kind: 'dead'; readonly error: StoredError }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'release' }
  | {
      readonly kind: 'snooze';
      readonly delayMs: number;
      /** By the database's clock, instead. */ readonly untilMs?: number;
    };

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

/** What becomes of a job whose row cannot be understood; undefined for any other. */
export function endOfMalformed({ malformed }: Pick<ClaimedJob, 'malformed'>): Outcome | undefined {
  return malformed && { kind: 'dead', error: storedError(malformed) };
}

/** What becomes of a job whose handler threw. */
export function afterError(job: Tried, thrown: unknown, policy: RetryPolicy, parts: RuleParts): MaybeLater<Outcome> {
  const error = readableError(thrown);
  const dead: Outcome = { kind: 'dead', error: storedError(error) };
  if (job.attempt >= job.maxAttempts || hasCode(error, 'UNRECOVERABLE')) return dead;
  return after(isWorthRetrying(error, job.attempt, policy, parts), (isWorth) =>
    isWorth ? afterBackoff(job, error, policy, parts) : dead,
  );
}

function isWorthRetrying(
  error: Error,
  attempt: number,
  { retryIf }: RetryPolicy,
  parts: RuleParts,
): MaybeLater<boolean> {
  if (!retryIf) return true;
  const rule = {
    name: 'retryIf',
    ask: () => retryIf(error, attempt),
    read: (answer: unknown) => (typeof answer === 'boolean' ? answer : undefined),
    expected: 'true or false',
    otherwise: () => true,
  };
  return askRule(rule, parts);
}

function afterBackoff(job: Tried, error: Error, policy: RetryPolicy, parts: RuleParts): MaybeLater<Outcome> {
  const { backoff } = job.overrides ?? {};
  const rule = backoff === undefined ? policy.backoff : backoffMs(backoff);
  return after(rule(job.attempt, error, parts), (delayMs) =>
    delayMs === false
      ? { kind: 'dead', error: storedError(error) }
      : { kind: 'retry', delayMs, error: storedError(error) },
  );
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
  parts: RuleParts,
): MaybeLater<Outcome> {
  if (!mayHaveBegun) return { kind: 'release' };
  const error = silenceError(silent);
  if (job.attempt >= job.maxAttempts) return { kind: 'dead', error: storedError(error) };
  if (job.attempt === 1) return { kind: 'retry', delayMs: 0, error: storedError(error) };
  return afterBackoff(job, error, policy, parts);
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
