import type { Outcome } from '../../job/outcome.js';

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
