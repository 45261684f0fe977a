import type { WorkerEntry } from '../job-store.js';
import { change, query, type Work } from './statement.js';

const KNOWN_QUEUES = `
  SELECT queue
  FROM {queues}
  WHERE queue IN (:queues)`;

const ENTER = `
  INSERT INTO {workers} (id, host, pid, queues, started_at, seen_at)
  VALUES (:id, :host, :pid, :queues, :now, :now)`;

const WORK = `
  UPDATE {workers} /*! FORCE INDEX (PRIMARY) */
  SET queues = :queues
  WHERE id = :id`;

const SEEN = `
  UPDATE {workers} /*! FORCE INDEX (PRIMARY) */
  SET seen_at = :now
  WHERE id = :id`;

const LEAVE = `
  DELETE /*! {workers} */ FROM {workers} /*! FORCE INDEX (PRIMARY) */
  WHERE id = :id`;

// Processes that were killed never leave. A day is long enough to look at them.
const LONG_GONE = `
  SELECT id
  FROM {workers}
  WHERE seen_at < :now - 86400000`;

const FORGET = `
  DELETE /*! {workers} */ FROM {workers} /*! FORCE INDEX (PRIMARY) */
  WHERE id IN (:ids)`;

const SILENT_PRODUCERS = `
  SELECT id
  FROM {producers}
  WHERE seen_at < :now - 86400000`;

const FORGET_PRODUCERS = `
  DELETE /*! {producers} */ FROM {producers} /*! FORCE INDEX (PRIMARY) */
  WHERE id IN (:ids) AND seen_at < :now - 86400000`;

/** The queues of a worker's that have no row of their own yet. */
export function* unknownQueues(queues: readonly string[]): Work<string[]> {
  if (queues.length === 0) return [];
  const known = new Set((yield* query<{ queue: string }>(KNOWN_QUEUES, { queues })).map(({ queue }) => queue));
  return queues.filter((queue) => !known.has(queue));
}

export function* enter(worker: WorkerEntry): Work<void> {
  const gone = yield* query<{ id: string }>(LONG_GONE);
  if (gone.length > 0) yield* change(FORGET, { ids: gone.map(({ id }) => id).sort() });
  const silent = yield* query<{ id: number }>(SILENT_PRODUCERS);
  if (silent.length > 0) yield* change(FORGET_PRODUCERS, { ids: silent.map(({ id }) => Number(id)) });
  // Asked again after an answer that was lost, it may be there already.
  yield* change(LEAVE, { id: worker.id });
  yield* change(ENTER, { ...worker, queues: JSON.stringify(worker.queues) });
}

export function* work(id: string, queues: readonly string[]): Work<void> {
  yield* change(WORK, { id, queues: JSON.stringify(queues) });
}

export function* seen(id: string): Work<void> {
  yield* change(SEEN, { id });
}

export function* leave(id: string): Work<void> {
  yield* change(LEAVE, { id });
}
