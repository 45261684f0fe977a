import { withoutOrigin } from '../../job/dead-letter.js';
import type { JobOverrides } from '../../job/enqueue-options.js';
import type { Replay } from '../admin-store.js';
import { changesOf, type ChangedJob } from './changes.js';
import { parseOr } from './claimed-row.js';
import { rowChunks } from './row-chunks.js';
import { leaveStages, RUNNABLE_AGAIN } from './stages.js';
import { change, note, query, Rows, type SqlValue, type Work } from './statement.js';

const LOCK_SCHEDULED = `
  SELECT id, queue, name, attempt
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE id IN (:ids) AND claim_id = 0 AND run_at IS NOT NULL
  ORDER BY id /*! FOR UPDATE */`;

const MAKE_DUE = `
  UPDATE {jobs} /*! FORCE INDEX (PRIMARY) */
  SET due_at = :now, state = 'waiting', runnable = ${RUNNABLE_AGAIN}, run_at = NULL
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
                      created_at, payload, headers, options, error, due_at)
  VALUES :rows`;

// run_at or due_at is NULL: the job waits for the one, or has waited since the other.
const ANEW = `(?, ?, ?, :now + ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, :now + ?)`;

type FinishedRow = Record<
  'id' | 'queue' | 'name' | 'priority' | 'max_attempts' | 'created_at' | 'payload' | 'headers' | 'options' | 'error',
  SqlValue
>;

/** Asked of each finished job that goes back into its queue; one that may not start anew stays as it is. */
export type MayStart = (id: number, overrides: JobOverrides | null) => boolean;

/** Dead and cancelled jobs start anew, with their old ids and all their attempts; scheduled ones become due. */
export function* retryJobs(ids: readonly number[], mayStart: MayStart): Work<number[]> {
  if (ids.length === 0) return [];
  const sorted = [...ids].sort((a, b) => a - b);
  const jobs = yield* query<ChangedJob>(LOCK_SCHEDULED, { ids: sorted });
  const due = jobs.map(({ id }) => Number(id));
  yield* note(changesOf('retried', jobs));
  if (due.length > 0) yield* change(MAKE_DUE, { ids: due });
  return [...due, ...(yield* replayJobs(sorted, { to: undefined, firstMs: 0, everyMs: 0 }, mayStart))];
}

/** The same for dead and cancelled jobs alone, in the order of ids: not all at once, or in another queue. */
export function* replayJobs(ids: readonly number[], replay: Replay, mayStart: MayStart): Work<number[]> {
  if (ids.length === 0) return [];
  const found = yield* query<FinishedRow>(LOCK_FINISHED, { ids: [...ids].sort((a, b) => a - b) });
  const rows = found.filter(
    (row) => !staysIn(row, replay) || mayStart(Number(row.id), parseOr(row.options as string | null)),
  );
  if (rows.length === 0) return [];
  const finished = rows.map(({ id }) => Number(id));
  const retried = rows.map(({ id, queue, name }) => ({ id, queue: replay.to ?? queue, name }) as ChangedJob);
  yield* note(changesOf('retried', retried));
  yield* change(TAKE_FINISHED, { ids: finished });
  const anew = rows.map((row, n) => values(row, replay, n));
  for (const chunk of rowChunks(anew)) yield* change(PUT_BACK, { rows: new Rows(ANEW, chunk) });
  // What a job that ended by another hand than its holder's has left.
  yield* leaveStages(finished);
  return finished;
}

function staysIn({ queue }: FinishedRow, { to }: Replay): boolean {
  return to === undefined || to === queue;
}

function values(row: FinishedRow, replay: Replay, n: number): SqlValue[] {
  const { to, firstMs, everyMs } = replay;
  const { id, name, priority, created_at, payload, error } = row;
  const delayMs = Math.round(firstMs + n * everyMs);
  const when = delayMs > 0 ? [delayMs, 'scheduled', 0] : [null, 'waiting', 1];
  const dueMs = delayMs > 0 ? null : 0;
  if (staysIn(row, replay)) {
    const { queue, max_attempts, headers, options } = row;
    return [id, queue, name, ...when, priority, max_attempts, created_at, payload, headers, options, error, dueMs];
  }
  // Elsewhere it is a job like any other: how often it may be tried is for that queue to say, its key was one of the queue it
  // leaves, and where it once came from is over.
  const headers = withoutOrigin(row.headers as string | null);
  return [id, to!, name, ...when, priority, 0, created_at, payload, headers, withoutKey(row.options), error, dueMs];
}

function withoutKey(options: SqlValue): SqlValue {
  const overrides = parseOr<JobOverrides>(options as string | null);
  if (overrides?.key === undefined) return options;
  const { key: _key, keyUntil: _until, ...others } = overrides;
  return Object.keys(others).length === 0 ? null : JSON.stringify(others);
}
