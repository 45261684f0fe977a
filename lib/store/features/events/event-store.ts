import type { QueueEvent } from '../../../job/queue-event.js';

/** A job event, recorded in the transaction that changed the job. */
export interface RecordedEvent {
  /** Ascending, but not in the order of commits: an event with a smaller id can become visible later. */
  readonly id: number;
  /** `at` is the time at which the transaction wrote the event. */
  readonly event: QueueEvent;
}

/** The recorded events of queues with the option `events`. */
export interface EventStore {
  /** The ids of the last visible events, at most `limit`, in ascending order. Reads without locks. */
  lastIds(limit: number): Promise<number[]>;

  /** At most `limit` events with greater ids, in the order of ids. Reads without locks. */
  readAfter(id: number, limit: number): Promise<RecordedEvent[]>;

  readByIds(ids: readonly number[]): Promise<RecordedEvent[]>;

  /** Deletes at most `limit` events that are older than ten minutes, and returns their number. */
  pruneEvents(limit: number): Promise<number>;
}
