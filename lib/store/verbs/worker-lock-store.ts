import type { OnRescued, RescuedJob, RescueRules } from './job-store.js';

/** A row that a worker keeps locked while it lives. The database unlocks it as soon as the worker's process dies. */
export interface WorkerLock {
  /** The id in the claims that end with this lock. Never reused. */
  readonly id: number;
  /** Aborted when the lock is lost or may be lost: from then on other workers can rescue the jobs of its claims. */
  readonly lostSignal: AbortSignal;
  /** Keeps the connection alive and checks that the lock still exists. Never rejects. */
  ping(): Promise<void>;
  /** Never rejects, and waits at most 1 s for a database that does not answer. */
  release(): Promise<void>;
}

/** The locks of workers that claim by `lock`. */
export interface WorkerLockStore {
  /** Writes and locks a new row. Rejects with a StoreUnavailableError if the database is unreachable. */
  acquire(workerId: string): Promise<WorkerLock>;

  /**
   * Rescues the jobs of claims whose worker lock is free, without waiting for their leases: the worker is dead, or it
   * regards the lock as lost. Skips jobs that another transaction has locked.
   *
   * @param onRescued called for each claim as soon as its rescue has committed, because its jobs can run from then on
   */
  rescue(rules: RescueRules, onRescued?: OnRescued): Promise<RescuedJob[]>;
}
