import { changesOf, type ChangedJob } from './changes.js';
import { change, note, query, type Work } from './statement.js';
import { forgetTraces } from './traces.js';
import { markRemoved } from './waits.js';

const LOCK_IDLE = `
  SELECT id, queue, name, attempt
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE id IN (:ids) AND claim_id = 0
  ORDER BY id /*! FOR UPDATE */`;

const REMOVE_IDLE = `
  DELETE /*! {jobs} */ FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE id IN (:ids) AND claim_id = 0`;

const LOCK_FINISHED = `
  SELECT id, queue, name, attempt
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
  const removed = [...idle, ...finished];
  yield* forgetTraces(removed);
  yield* markRemoved(removed);
  return removed;
}

function* lockAndRemove(lock: string, remove: string, sorted: number[]): Work<number[]> {
  const jobs = yield* query<ChangedJob>(lock, { ids: sorted });
  const ids = jobs.map(({ id }) => Number(id));
  yield* note(changesOf('removed', jobs));
  if (ids.length > 0) yield* change(remove, { ids });
  return ids;
}
