import type { Outcome } from '../../job/outcome.js';
import type { ResolvedQueueOptions } from '../../job/queue-options.js';
import type { Completion } from '../../store/jobs/completion.js';

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

/** Adds the parts of a completion that depend on the options of its queue. */
export function toCompletion(
  {
    job,
    claimId,
    workerId,
    outcome,
    ranMs,
    endedAt,
  }: Required<Omit<Completion, 'retentionMs' | 'deadLetter' | 'owner'>>,
  { deadLetter, retention }: ResolvedQueueOptions,
): Completion {
  const retentionMs = outcome.kind === 'complete' ? retention.completedMs : retention.deadMs;
  // A spread of the given fields costs 2 µs a job.
  return { job, claimId, workerId, outcome, ranMs, endedAt, retentionMs, deadLetter };
}
