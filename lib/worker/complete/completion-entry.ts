import type { Outcome } from '../../job/outcome.js';
import type { Completion } from '../../store/jobs/completion.js';
import type { ActiveClaim } from '../queue/active-claim.js';

/**
 * The outcome that has committed. It differs from the given one if the job was cancelled instead, or if the database
 * rejected the given one. `lost`: the claim was lost, and nothing was written.
 */
export type WrittenOutcome = Outcome | 'lost';

/** One outcome on its way to the database. */
export interface CompletionEntry {
  readonly claim: ActiveClaim;
  /** Undefined: the entry only raises the start limit of the claim. */
  readonly completion: Completion | undefined;
  readonly rejections?: number;
  /** It replaces an outcome that the database rejected. */
  readonly isSubstitute?: true;
  /** Another transaction had locked the job at the last attempt. */
  readonly wasLocked?: true;
  readonly onWritten: (written: WrittenOutcome) => void;
}

/** Entries that one transaction writes. */
export interface EntryBatch {
  readonly entries: readonly CompletionEntry[];
  /** An earlier transaction with these entries may have committed: its answer was lost. */
  readonly mayHaveCommitted: boolean;
}

export interface DeferredBatch extends EntryBatch {
  readonly delayMs: number;
}
