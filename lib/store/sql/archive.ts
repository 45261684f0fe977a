import { inArchive, type Archives } from '../archive.js';
import { nameable } from './claimed-row.js';
import { change, Ids, query, type Work } from './statement.js';

const COLUMNS = `id, queue, name, state, priority, attempt, max_attempts, worker_id, created_at, started_at, finished_at,
         expires_at, payload, headers, options, result, error, due_at, owner`;

// Rows that another process archives or retries at the moment are left for the next time, however many. Out of the order of
// ids, in which others lock the history: a statement that skips locked rows waits for none.
const LOCK_EXPIRED = `
  SELECT id, queue, created_at, finished_at
  FROM {history} /*! FORCE INDEX ({history}_expiry) */
  WHERE expires_at <= :now
  ORDER BY expires_at
  LIMIT :limit /*! FOR UPDATE SKIP LOCKED */`;

// Jobs that were put back into the history by hand, or earlier jobs that had the same ids.
const THERE = `
  SELECT id, created_at, finished_at
  FROM {archive}
  WHERE :ids`;

const KEEP = `
  INSERT INTO {archive} (id, queue, name, state, priority, attempt, max_attempts, worker_id, created_at, started_at, finished_at,
         expires_at, payload, headers, options, result, error, due_at, owner)
  SELECT ${COLUMNS}
  FROM {history} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids`;

const FORGET = `
  DELETE /*! {history} */ FROM {history} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids AND expires_at <= :now`;

// Beyond any clock: such a job is never looked at again.
const KEEP_FOR_GOOD = `
  UPDATE {history} /*! FORCE INDEX (PRIMARY) */
  SET expires_at = ${Number.MAX_SAFE_INTEGER}
  WHERE :ids`;

const LOOK = `
  SELECT ${COLUMNS}
  FROM {archive}
  WHERE id = 0`;

interface Archived {
  id: number;
  created_at: number;
  finished_at: number;
}

interface Expired extends Archived {
  queue: string;
}

/**
 * Moves finished jobs past their retention to the archives of their queues, and deletes those of queues without one, at most
 * `limit`. Locks the history, then the archives. A job stays in the history if the archive has another one with its id: the
 * archive is not ours to change.
 */
export function* archive(limit: number, archives: Archives): Work<number> {
  const locked = nameable(yield* query<Expired>(LOCK_EXPIRED, { limit }));
  if (locked.length === 0) return 0;
  for (const [to, rows] of byArchive(locked, archives)) yield* copy(rows, to);
  yield* change(FORGET, { ids: idsOf(locked) });
  return locked.length;
}

function* copy(rows: readonly Expired[], to: string): Work<void> {
  // Asked first: an INSERT that passes over them would pass over other errors, or copy what it reads.
  const archived = yield* query<Archived>(inArchive(THERE, to), { ids: idsOf(rows) });
  const there = new Map(archived.map((row) => [Number(row.id), row]));
  const fresh = rows.filter(({ id }) => !there.has(Number(id)));
  const stay = rows.filter((row) => isAnother(row, there.get(Number(row.id))));
  if (fresh.length > 0) yield* change(inArchive(KEEP, to), { ids: idsOf(fresh) });
  if (stay.length > 0) yield* change(KEEP_FOR_GOOD, { ids: idsOf(stay) });
}

function byArchive(rows: readonly Expired[], archives: Archives): Map<string, Expired[]> {
  const archiveOf = new Map<string, string | undefined>();
  const byTable = new Map<string, Expired[]>();
  for (const row of rows) {
    const queue = String(row.queue);
    if (!archiveOf.has(queue)) archiveOf.set(queue, archives.of(queue));
    const to = archiveOf.get(queue);
    if (to === undefined) continue;
    const same = byTable.get(to);
    if (same) same.push(row);
    else byTable.set(to, [row]);
  }
  return byTable;
}

function isAnother(row: Expired, there: Archived | undefined): boolean {
  if (!there) return false;
  return Number(row.created_at) !== Number(there.created_at) || Number(row.finished_at) !== Number(there.finished_at);
}

/** Rejects if the archive is missing, or one of its columns. */
export function* lookAtArchive(to: string): Work<void> {
  yield* query(inArchive(LOOK, to));
}

function idsOf(rows: readonly { id: number }[]): Ids {
  return new Ids(rows.map(({ id }) => Number(id)));
}
