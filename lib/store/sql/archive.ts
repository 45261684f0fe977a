import { change, Ids, query, type Work } from './statement.js';

const COLUMNS = `id, queue, name, state, priority, attempt, max_attempts, worker_id, created_at, started_at, finished_at,
         expires_at, payload, headers, options, result, error`;

const EXPIRED = `
  SELECT id
  FROM {history} /*! FORCE INDEX ({history}_expiry) */
  WHERE expires_at <= :now
  ORDER BY expires_at
  LIMIT :limit`;

// Another process may be at the same ones, or somebody at retrying them: they are left for the next time.
const LOCK_EXPIRED = `
  SELECT id
  FROM {history} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids AND expires_at <= :now
  ORDER BY id /*! FOR UPDATE SKIP LOCKED */`;

// What was put back into the history by hand.
const THERE = `
  SELECT id
  FROM {archive}
  WHERE :ids`;

const KEEP = `
  INSERT INTO {archive} (id, queue, name, state, priority, attempt, max_attempts, worker_id, created_at, started_at, finished_at,
         expires_at, payload, headers, options, result, error)
  SELECT ${COLUMNS}
  FROM {history} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids`;

const FORGET = `
  DELETE /*! {history} */ FROM {history} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids AND expires_at <= :now`;

const LOOK = `
  SELECT ${COLUMNS}
  FROM {archive}
  WHERE id = 0`;

/** Moves finished jobs past their retention to the archive, at most `limit`. Locks the history, then the archive. */
export function* archive(limit: number): Work<number> {
  const expired = yield* query<{ id: number }>(EXPIRED, { limit });
  if (expired.length === 0) return 0;
  const locked = yield* query<{ id: number }>(LOCK_EXPIRED, { ids: idsOf(expired) });
  if (locked.length === 0) return 0;
  const ids = idsOf(locked);
  // Asked first: an INSERT that passes over them would pass over other errors, or copy what it reads.
  const there = new Set((yield* query<{ id: number }>(THERE, { ids })).map(({ id }) => Number(id)));
  const others = ids.inOrder.filter((id) => !there.has(id));
  if (others.length > 0) yield* change(KEEP, { ids: new Ids(others) });
  return yield* change(FORGET, { ids });
}

/** Rejects where there is no archive, or not all of its columns. */
export function* lookAtArchive(): Work<void> {
  yield* query(LOOK);
}

function idsOf(rows: readonly { id: number }[]): Ids {
  return new Ids(rows.map(({ id }) => Number(id)));
}
