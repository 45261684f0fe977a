import type { Outcome } from '../../job/outcome.js';

/** The end of an attempt. */
export interface AttemptEnd {
  readonly outcome: Outcome;
  readonly result: unknown;
  /**
   * The handler completed the job in its own transaction, or handed it off. The completer does not write the outcome.
   */
  readonly isDetached: boolean;
  /** The bearer of the token ends the job, so this attempt emits no outcome. */
  readonly isHandedOff: boolean;
}

export function toAttemptEnd(outcome: Outcome, result?: unknown): AttemptEnd {
  return { outcome, result, isDetached: false, isHandedOff: false };
}
