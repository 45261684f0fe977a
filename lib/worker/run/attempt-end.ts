import type { ClaimedJob } from '../../job/job.js';
import type { Outcome } from '../../job/outcome.js';
import { COMPLETED, type Completed } from '../../job/payload.js';
import type { ResolvedQueueOptions } from '../../job/queue-options.js';
import type { Clock } from '../../common/clock.js';
import type { MaybePromise } from '../../common/maybe-promise.js';
import type { Completion } from '../../store/rows/completion.js';

export interface AttemptEnd {
  readonly outcome: Outcome;
  readonly result: unknown;
  /** Completed in the handler's transaction, or handed off: the completer does not write the outcome. */
  readonly isDetached: boolean;
  /** The bearer of the token ends the job, so this attempt emits no outcome. */
  readonly isHandedOff: boolean;
}

export function toAttemptEnd(outcome: Outcome, result?: unknown): AttemptEnd {
  return { outcome, result, isDetached: false, isHandedOff: false };
}

const COMPLETED_WITHOUT_RESULT = toAttemptEnd(COMPLETED);

/** @param outcome that of the result, which may not be storable */
export function endOfCompleted(outcome: MaybePromise<Completed>, result: unknown): MaybePromise<AttemptEnd> {
  if (outcome === COMPLETED) return COMPLETED_WITHOUT_RESULT;
  if (outcome instanceof Promise) return endOnceEncoded(outcome, result);
  return toAttemptEnd(outcome, outcome.error ? undefined : result);
}

async function endOnceEncoded(outcome: Promise<Completed>, result: unknown): Promise<AttemptEnd> {
  return endOfCompleted(await outcome, result);
}

/** The longest time of a run; false: no limit. */
export function timeoutOf({ overrides }: ClaimedJob, { timeoutMs }: ResolvedQueueOptions): number | false {
  return overrides?.timeoutMs ?? timeoutMs;
}

/** Adds the parts of a completion that depend on the options of its queue. */
export function toCompletion(
  { job, claimId, workerId, outcome, ranMs }: Pick<Completion, 'job' | 'claimId' | 'workerId' | 'outcome' | 'ranMs'>,
  options: ResolvedQueueOptions,
  clock: Clock,
): Completion {
  const { deadLetter, retention } = options;
  const retentionMs = outcome.kind === 'complete' ? retention.completedMs : retention.deadMs;
  const endedAt = 'error' in outcome && outcome.error ? clock.now() : undefined;
  // A spread of the given fields costs 2 µs a job.
  const timeoutMs = timeoutOf(job, options);
  return { job, claimId, workerId, outcome, ranMs, endedAt, retentionMs, deadLetter, timeoutMs };
}
