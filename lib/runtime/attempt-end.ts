import type { Outcome } from '../job/outcome.js';

/** How an attempt ended. */
export interface AttemptEnd {
  readonly outcome: Outcome;
  readonly result: unknown;
  /** The attempt completed the job itself, in its own transaction, or handed it off: nothing is left to settle. */
  readonly committed: boolean;
  /** Somebody else has the job: of this run there is nothing to tell. */
  readonly handedOff: boolean;
}

export function ended(outcome: Outcome, result?: unknown): AttemptEnd {
  return { outcome, result, committed: false, handedOff: false };
}
