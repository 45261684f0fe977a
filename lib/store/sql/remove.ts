import { change, query, type Work } from './statement.js';

const LOCK_IDLE = `
  SELECT id
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE id IN (:ids) AND claim_id = 0
  ORDER BY id /*! FOR UPDATE */`;

const REMOVE_IDLE = `
  DELETE /*! {jobs} */ FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE id IN (:ids) AND claim_id = 0`;

const LOCK_FINISHED = `
  SELECT id
  FROM {history} /*! FORCE INDEX (PRIMARY) */
  WHERE id IN (:ids)
  ORDER BY id /*! FOR UPDATE */`;

const REMOVE_FINISHED = `
  DELETE /*! {history} */ FROM {history} /*! FORCE INDEX (PRIMARY) */
  WHERE id IN (:ids)`;

/** Jobs that are active stay: their worker would never hear of it. Cancel them. */
export function* removeJobs(ids: readonly number[]): Work<number[]> {
  if (ids.length === 0) return [];
  const sorted = [...ids].sort((a, b) => a - b);
  const idle = yield* lockAndRemove(LOCK_IDLE, REMOVE_IDLE, sorted);
  const finished = yield* lockAndRemove(LOCK_FINISHED, REMOVE_FINISHED, sorted);
  return [...idle, ...finished];
}

function* lockAndRemove(lock: string, remove: string, sorted: number[]): Work<number[]> {
  const ids = (yield* query<{ id: number }>(lock, { ids: sorted })).map(({ id }) => Number(id));
  if (ids.length > 0) yield* change(remove, { ids });
  return ids;
}
