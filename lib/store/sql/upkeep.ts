import { change, Ids, query, type Work } from './statement.js';

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
  WHERE :ids AND run_at <= :now AND claim_id = 0`;

const EXPIRED = `
  SELECT id
  FROM {history} /*! FORCE INDEX ({history}_expiry) */
  WHERE expires_at <= :now
  ORDER BY expires_at
  LIMIT :limit`;

const FORGET = `
  DELETE /*! {history} */ FROM {history} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids AND expires_at <= :now`;

/** Read without locks, then locked in the order of ids, in which everyone locks jobs. */
export function* promote(limit: number): Work<number> {
  const due = yield* query<{ id: number }>(DUE, { limit });
  if (due.length === 0) return 0;
  return yield* change(PROMOTE, { ids: idsOf(due) });
}

export function* prune(limit: number): Work<number> {
  const expired = yield* query<{ id: number }>(EXPIRED, { limit });
  if (expired.length === 0) return 0;
  return yield* change(FORGET, { ids: idsOf(expired) });
}

function idsOf(rows: readonly { id: number }[]): Ids {
  return new Ids(rows.map(({ id }) => Number(id)));
}
