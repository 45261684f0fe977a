import { jobEventsOf, type EventJob } from '../jobs/job-events.js';
import { ascending, idsOf } from '../core/safe-id.js';
import { execute, emit, query, type Work } from '../core/statement.js';
import { deleteJobLogs } from '../results/sql-job-log-store.js';
import { markRemoved } from '../results/sql-wait-store.js';

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

/** Active jobs stay, because their worker would not learn of the removal: cancel them. */
export function* removeJobs(ids: readonly number[]): Work<number[]> {
  if (ids.length === 0) return [];
  const inOrder = ascending(ids);
  const idle = yield* lockAndRemove(LOCK_IDLE, REMOVE_IDLE, inOrder);
  const finished = yield* lockAndRemove(LOCK_FINISHED, REMOVE_FINISHED, inOrder);
  const removed = [...idle, ...finished];
  yield* deleteJobLogs(removed);
  yield* markRemoved(removed);
  return removed;
}

function* lockAndRemove(lock: string, remove: string, inOrder: number[]): Work<number[]> {
  const jobs = yield* query<EventJob>(lock, { ids: inOrder });
  const ids = idsOf(jobs);
  yield* emit(jobEventsOf('removed', jobs));
  if (ids.length > 0) yield* execute(remove, { ids });
  return ids;
}
