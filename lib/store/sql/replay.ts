import type { JobOverrides } from '../../job/enqueue-options.js';
import { parseOr } from './claimed-row.js';
import { rowChunks } from './row-chunks.js';
import { leaveStages, RUNNABLE_AGAIN } from './stages.js';
import { change, query, Rows, type SqlValue, type Work } from './statement.js';

const LOCK_SCHEDULED = `
  SELECT id
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE id IN (:ids) AND claim_id = 0 AND run_at IS NOT NULL
  ORDER BY id /*! FOR UPDATE */`;

const MAKE_DUE = `
  UPDATE {jobs} /*! FORCE INDEX (PRIMARY) */
  SET state = 'waiting', runnable = ${RUNNABLE_AGAIN}, run_at = NULL
  WHERE id IN (:ids) AND claim_id = 0`;

const LOCK_FINISHED = `
  SELECT id, queue, name, priority, max_attempts, created_at, payload, headers, options, error
  FROM {history} /*! FORCE INDEX (PRIMARY) */
  WHERE id IN (:ids) AND state <> 'completed'
  ORDER BY id /*! FOR UPDATE */`;

const TAKE_FINISHED = `
  DELETE /*! {history} */ FROM {history} /*! FORCE INDEX (PRIMARY) */
  WHERE id IN (:ids)`;

const PUT_BACK = `
  INSERT INTO {jobs} (id, queue, name, run_at, state, runnable, priority, attempt, max_attempts,
                      created_at, payload, headers, options, error)
  VALUES :rows`;

const WAITING_ANEW = `(?, ?, ?, NULL, 'waiting', 1, ?, 0, ?, ?, ?, ?, ?, ?)`;

type FinishedRow = Record<
  'id' | 'queue' | 'name' | 'priority' | 'max_attempts' | 'created_at' | 'payload' | 'headers' | 'options' | 'error',
  SqlValue
>;

/**
 * Dead and cancelled jobs start anew, with their old ids and all their attempts; scheduled ones become due.
 *
 * @param mayStart asked of each finished job, by its id and options; one that may not stays as it is
 */
export function* retryJobs(
  ids: readonly number[],
  mayStart: (id: number, overrides: JobOverrides | null) => boolean,
): Work<number[]> {
  if (ids.length === 0) return [];
  const sorted = [...ids].sort((a, b) => a - b);
  const due = (yield* query<{ id: number }>(LOCK_SCHEDULED, { ids: sorted })).map(({ id }) => Number(id));
  if (due.length > 0) yield* change(MAKE_DUE, { ids: due });
  const found = yield* query<FinishedRow>(LOCK_FINISHED, { ids: sorted });
  const rows = found.filter(({ id, options }) => mayStart(Number(id), parseOr(options as string | null)));
  if (rows.length === 0) return due;
  const finished = rows.map(({ id }) => Number(id));
  yield* change(TAKE_FINISHED, { ids: finished });
  for (const chunk of rowChunks(rows.map(values))) yield* change(PUT_BACK, { rows: new Rows(WAITING_ANEW, chunk) });
  // What a job that ended by another hand than its holder's has left.
  yield* leaveStages(finished);
  return [...due, ...finished];
}

function values(row: FinishedRow): SqlValue[] {
  const { id, queue, name, priority, max_attempts, created_at, payload, headers, options, error } = row;
  return [id, queue, name, priority, max_attempts, created_at, payload, headers, options, error];
}
