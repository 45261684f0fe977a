import type { DuplicateKeyError } from '../job/errors.js';
import type { NewJob } from '../job/job.js';
import type { CallerTransaction } from './job-store.js';

/** Where a job that was to be put in has gone. */
export interface PlacedJob {
  readonly id: number;
  readonly name: string;
  /** `existing`: another job holds the key and stays as it is. `replaced`: that job has the new payload and options. */
  readonly outcome: 'created' | 'replaced' | 'existing';
}

/** What became of one call. `locked`: nothing, since somebody else is about one of its keys just now. */
export type KeyedAnswer = readonly PlacedJob[] | DuplicateKeyError | 'locked';

/** How jobs with keys are put in: at most one holds a key at a time, under any number of processes. */
export interface KeyStore {
  /** The jobs of each call all or none, never twice. Waits for nobody: a call that would have to can be tried again. */
  enqueueKeyed(calls: readonly (readonly NewJob[])[]): Promise<readonly KeyedAnswer[]>;

  /**
   * The same in the caller's transaction, waiting for others with the same keys; they then wait for the caller's commit.
   * Rejects with DuplicateKeyError, and nothing is put in. Undefined if the store knows no transactions (the testing kit).
   */
  enqueueKeyedWithin(
    jobs: readonly NewJob[],
    transaction: CallerTransaction,
  ): Promise<readonly PlacedJob[] | undefined>;

  /** Forgets keys that nobody holds and nobody has used for an hour, at most `limit`; answers how many it has looked at. */
  pruneKeys(limit: number): Promise<number>;
}
