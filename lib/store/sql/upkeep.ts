import { change, query, type Work } from './statement.js';

const DUE = `
  SELECT id
  FROM {jobs} /*! FORCE INDEX ({jobs}_schedule) */
  WHERE run_at <= :now
  ORDER BY run_at
  LIMIT :limit`;

// run_at is asked once more: another promoter may have been faster, and the job may be scheduled anew by now.
const PROMOTE = `
  UPDATE {jobs} /*! FORCE INDEX (PRIMARY) */
  SET state = 'waiting', runnable = 1, run_at = NULL
  WHERE id IN (:ids) AND run_at <= :now AND claim_id IS NULL`;

const EXPIRED = `
  SELECT id
  FROM {history} /*! FORCE INDEX ({history}_expiry) */
  WHERE expires_at <= :now
  ORDER BY expires_at
  LIMIT :limit`;

const FORGET = `
  DELETE /*! {history} */ FROM {history} /*! FORCE INDEX (PRIMARY) */
  WHERE id IN (:ids) AND expires_at <= :now`;

/** Read without locks, then locked in the order of ids, in which everyone locks jobs. */
export function* promote(limit: number): Work<number> {
  const due = yield* query<{ id: number }>(DUE, { limit });
  if (due.length === 0) return 0;
  return yield* change(PROMOTE, { ids: inOrder(due) });
}

export function* prune(limit: number): Work<number> {
  const expired = yield* query<{ id: number }>(EXPIRED, { limit });
  if (expired.length === 0) return 0;
  return yield* change(FORGET, { ids: inOrder(expired) });
}

function inOrder(rows: readonly { id: number }[]): number[] {
  return rows.map(({ id }) => Number(id)).sort((a, b) => a - b);
}
