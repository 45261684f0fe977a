import { batchesOf } from '../../common/batches-of.js';
import { execute, query, type Work } from '../core/statement.js';
import { readJobIds } from './read-flow.js';

const CHECK_INTERVAL_MS = 3_600_000;

const EXPIRED = `
  SELECT id
  FROM {flows} /*! FORCE INDEX ({flows}_expiry) */
  WHERE expires_at <= :now
  ORDER BY expires_at
  LIMIT :limit`;

// A job that can be retried goes on with its flow. One statement, so that a job that moves to the history is found in one
// of the two tables.
const REMAINING = `
  SELECT e.needs
  FROM {edges} e /*! FORCE INDEX (PRIMARY) */
  WHERE e.job_id = :id
    AND (EXISTS (SELECT 1 FROM {history} h WHERE h.id = e.needs) OR EXISTS (SELECT 1 FROM {jobs} j WHERE j.id = e.needs))
  LIMIT 1`;

const POSTPONE = `
  UPDATE {flows} /*! FORCE INDEX (PRIMARY) */
  SET expires_at = :now + ${CHECK_INTERVAL_MS}
  WHERE id = :id`;

const DELETE_EDGES = `
  DELETE /*! {edges} */ FROM {edges} /*! FORCE INDEX (PRIMARY) */
  WHERE job_id = :id`;

const DELETE_FLOW = `
  DELETE /*! {flows} */ FROM {flows} /*! FORCE INDEX (PRIMARY) */
  WHERE id = :id`;

const BATCH_SIZE = 100;

export function* findExpiredFlows(limit: number): Work<number[]> {
  return (yield* query<{ id: number }>(EXPIRED, { limit })).map(({ id }) => Number(id));
}

/** Whether one of the last jobs of the flow still exists. If so, the next check follows in an hour. */
export function* keepsFlow(id: number): Work<boolean> {
  const [remaining] = yield* query(REMAINING, { id: -id });
  if (remaining) yield* execute(POSTPONE, { id });
  return remaining !== undefined;
}

/** The waiting jobs of a flow in batches whose edges are deleted, those of the first jobs first: see `readJobIds`. */
export function* readEdgeBatches(id: number): Work<number[][]> {
  return [...batchesOf([...(yield* readJobIds(id))].reverse(), BATCH_SIZE), [-id]];
}

export function* deleteEdges(jobIds: readonly number[]): Work<void> {
  for (const id of jobIds) yield* execute(DELETE_EDGES, { id });
}

export function* deleteFlow(id: number): Work<void> {
  yield* execute(DELETE_FLOW, { id });
}
