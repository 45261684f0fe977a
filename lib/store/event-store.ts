import type { ChangeName } from '../job/queue-event.js';
import type { StoredError } from '../job/stored-error.js';

/** A change of what the database says of a job, as it was recorded in the transaction that made it. */
export interface RecordedEvent {
  /** Rising, but not in the order of commits: a smaller one can come later. */
  readonly id: number;
  readonly event: ChangeName;
  readonly queue: string;
  readonly jobId: number;
  readonly name: string;
  readonly attempt: number;
  readonly owner: string | null;
  readonly ranMs: number | null;
  readonly delayMs: number | null;
  readonly result: unknown;
  readonly error: StoredError | null;
  /** By the database's clock, when the transaction wrote it. */
  readonly atMs: number;
}

/** What was recorded of queues with the option `events`. */
export interface EventStore {
  /** The id of the last event that can be seen; undefined where there is none. */
  last(): Promise<number | undefined>;

  /** At most `limit` events behind that one, in the order of ids. Without locks. */
  after(id: number, limit: number): Promise<RecordedEvent[]>;

  /** Those of these that can be seen. */
  among(ids: readonly number[]): Promise<RecordedEvent[]>;

  /** Deletes events that were recorded ten minutes ago, at most `limit`; answers how many. */
  pruneEvents(limit: number): Promise<number>;
}
