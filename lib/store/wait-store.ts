import type { JobState } from '../job/job-state.js';
import type { StoredError } from '../job/stored-error.js';

/** A job as whoever waits for it sees it. */
export interface AwaitedJob {
  readonly id: number;
  readonly queue: string;
  readonly state: JobState;
  /** Encoded; null where there is none. */
  readonly result: string | null;
  readonly error: StoredError | null;
  /** Its outcome is kept for whoever asked, whatever its queue keeps. */
  readonly isRequest: boolean;
  /** Its outcome is kept for some minutes, whatever its queue keeps. */
  readonly hasKey: boolean;
}

/** Where it is noted who waits for which job. */
export interface WaitStore {
  /** The jobs that are there, all as they stood at one moment. Without locks. */
  look(ids: readonly number[]): Promise<ReadonlyMap<number, AwaitedJob>>;

  /** Notes that the process waits for these jobs, until so long from now. Harmless when it is said again. */
  enlist(waiter: number, ids: readonly number[], forMs: number): Promise<void>;

  /** The process does not wait for these any more. */
  strike(waiter: number, ids: readonly number[]): Promise<void>;

  /** The processes that wait for one of these. */
  waitersOf(ids: readonly number[]): Promise<number[]>;

  /** Those of these jobs that were removed while the process was known to wait for them. */
  removedOf(waiter: number, ids: readonly number[]): Promise<ReadonlySet<number>>;

  /** Deletes what is kept of finished jobs, and that the process waits for them. */
  forget(waiter: number, ids: readonly number[]): Promise<void>;

  /** Deletes what processes have noted that died, at most `limit`; answers how many. */
  pruneWaits(limit: number): Promise<number>;
}
