import type { Rescued, RescueRules } from './job-store.js';

/** A row that a worker keeps locked while it lives. The database frees it in the moment in which its process dies. */
export interface WorkerLock {
  /** What claims name that last no longer than the lock; never used again. */
  readonly id: number;
  /** Aborted as soon as the lock is gone, or has to be taken to be: the jobs of those claims are anybody's from then on. */
  readonly gone: AbortSignal;
  /** Shows the database that its holder is there, and finds out whether it still counts. Never rejects. */
  ping(): Promise<void>;
  /** Lets go of it. Never rejects, and waits a second at most for a database that does not answer. */
  release(): Promise<void>;
}

/** Where workers keep locks. */
export interface LockStore {
  take(workerId: string): Promise<WorkerLock>;

  /**
   * Takes jobs of claims whose lock is free, without waiting for their leases: whoever held it is dead, or has to take
   * itself to be. A job somebody has locked is left for the next time.
   */
  rescue(rules: RescueRules): Promise<Rescued[]>;
}
