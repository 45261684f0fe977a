import type { JobRecord } from '../../../job/job.js';
import type { JobOverrides } from '../../../job/job-overrides.js';

export interface AwaitedJob extends Readonly<Pick<JobRecord, 'queue' | 'state' | 'error'>> {
  /** The encoded result; null if there is none. */
  readonly result: string | null;
  /** The reason why this process cannot decode the result, which is then null. */
  readonly undecodable?: Error;
  /** They may keep the outcome for longer, or for a shorter time, than the queue does. */
  readonly overrides: JobOverrides | null;
}

/** Stores which processes wait for which jobs. */
export interface WaitStore {
  /** The jobs that exist, by id, in one consistent read without locks. */
  readJobs(ids: readonly number[]): Promise<ReadonlyMap<number, AwaitedJob>>;

  /** Registers that the process waits for these jobs during `forMs`. It may be repeated. */
  register(waiter: number, ids: readonly number[], forMs: number): Promise<void>;

  unregister(waiter: number, ids: readonly number[]): Promise<void>;

  waitersOf(ids: readonly number[]): Promise<number[]>;

  /** The jobs among these that were removed while the process was registered for them. */
  removedOf(waiter: number, ids: readonly number[]): Promise<ReadonlySet<number>>;

  /** Deletes finished jobs from the history, and the registrations of the process for them. */
  deleteOutcomes(waiter: number, ids: readonly number[]): Promise<void>;

  /** Deletes at most `limit` expired registrations of crashed processes, and returns their number. */
  pruneWaits(limit: number): Promise<number>;
}
