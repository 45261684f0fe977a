import type { DuplicateKeyError } from '../../../job/errors.js';
import type { NewJob } from '../../../job/job.js';
import type { CallerTransaction } from '../../core/caller-transaction.js';

export interface KeyedJobResult {
  readonly id: number;
  readonly name: string;
  /** `existing`: another job owns the key and is unchanged. `replaced`: that job has the new payload and options. */
  readonly outcome: 'created' | 'replaced' | 'existing';
}

/** `locked`: nothing was stored, because another transaction has locked one of the keys of the call. */
export type KeyedCallResult = readonly KeyedJobResult[] | DuplicateKeyError | 'locked';

/** Enqueues jobs with keys. At most one job owns a key at a time, across all processes. */
export interface KeyStore {
  /** Stores all jobs of a call or none, and never twice. Returns `locked` for a call instead of waiting for a lock. */
  enqueueKeyed(calls: readonly (readonly NewJob[])[]): Promise<readonly KeyedCallResult[]>;

  /**
   * Stores all jobs in the caller's transaction. Waits for other transactions that have locked the keys. Until the
   * caller commits, other transactions wait for these keys. Rejects with DuplicateKeyError; then nothing is stored.
   * Returns undefined if the store has no transactions (the testing kit).
   */
  enqueueKeyedInTransaction(
    jobs: readonly NewJob[],
    transaction: CallerTransaction,
  ): Promise<readonly KeyedJobResult[] | undefined>;

  /** Deletes keys without an owner that were unused for an hour. Examines at most `limit` and returns that number. */
  pruneKeys(limit: number): Promise<number>;
}
