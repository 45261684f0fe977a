import type { JobOverrides } from '../../job/enqueue-options.js';
import type { JobState } from '../../job/job-state.js';
import { readError } from '../../job/read-columns.js';
import type { AwaitedJob } from '../wait-store.js';
import { parseOr, safeId } from './claimed-row.js';
import { change, Ids, query, Rows, together, type Work } from './statement.js';
import { forgetting } from './traces.js';

// One statement, so that a job on its way to the history, or back, is seen in one of the two.
const LOOK = `
  SELECT id, queue, state, result, error, options
  FROM {history}
  WHERE id IN (:ids)
  UNION ALL
  SELECT id, queue, state, NULL, NULL, options
  FROM {jobs}
  WHERE id IN (:ids)`;

// MySQL, MariaDB and SQLite all know it; nobody else writes a process's rows.
const ENLIST = `
  REPLACE INTO {waits} (waiter, job_id, expires_at)
  VALUES :rows`;

const ENLISTED = `(?, ?, :now + ?)`;

// Without a condition on the row MySQL reads the whole table where there are about as many ids as rows, forced or not.
const STRIKE = `
  DELETE /*! {waits} */ FROM {waits} /*! FORCE INDEX (PRIMARY) */
  WHERE waiter = :waiter AND job_id IN (:ids) AND expires_at > 0`;

const WAITERS = `
  SELECT DISTINCT waiter
  FROM {waits} /*! FORCE INDEX ({waits}_job) */
  WHERE job_id IN (:ids)`;

// The table stands behind the history in the order in which all lock.
const FORGET_JOBS = `
  DELETE /*! {history} */ FROM {history} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids`;

// Passes over rows that another transaction has locked. The locks end with the statement.
const EXPIRED = `
  SELECT waiter, job_id
  FROM {waits} /*! FORCE INDEX ({waits}_expiry) */
  WHERE expires_at <= :now
  ORDER BY expires_at
  LIMIT :limit /*! FOR UPDATE SKIP LOCKED */`;

const STRIKE_EXPIRED = `
  DELETE /*! {waits} */ FROM {waits} /*! FORCE INDEX (PRIMARY) */
  WHERE waiter = :waiter AND job_id IN (:ids) AND expires_at <= :now`;

const WAITS = `
  SELECT waiter, job_id
  FROM {waits} /*! FORCE INDEX ({waits}_job) */
  WHERE job_id IN (:ids)`;

// No wait expires at the time 1 by itself. The row stays until the waiter has seen it, or the pruner finds it.
const MARK_REMOVED = `
  UPDATE {waits} /*! FORCE INDEX (PRIMARY) */
  SET expires_at = 1
  WHERE waiter = :waiter AND job_id IN (:ids)`;

const REMOVED = `
  SELECT job_id
  FROM {waits} /*! FORCE INDEX (PRIMARY) */
  WHERE waiter = :waiter AND job_id IN (:ids) AND expires_at = 1`;

interface WaitRow {
  waiter: number;
  job_id: number;
}

interface AwaitedRow {
  id: number;
  queue: string;
  state: string;
  result: string | null;
  error: string | null;
  options: string | null;
}

export function* look(ids: readonly number[]): Work<Map<number, AwaitedJob>> {
  const rows = yield* query<AwaitedRow>(LOOK, { ids });
  return new Map(rows.map((row) => [safeId(row.id), awaitedJob(row)]));
}

export function* enlist(waiter: number, ids: readonly number[], forMs: number): Work<void> {
  yield* change(ENLIST, {
    rows: new Rows(
      ENLISTED,
      sorted(ids).map((id) => [waiter, id, forMs]),
    ),
  });
}

export function* strike(waiter: number, ids: readonly number[]): Work<void> {
  yield* change(STRIKE, { waiter, ids: sorted(ids) });
}

export function* waitersOf(ids: readonly number[]): Work<number[]> {
  const rows = yield* query<{ waiter: number }>(WAITERS, { ids: sorted(ids) });
  return rows.map(({ waiter }) => Number(waiter));
}

export function* forget(waiter: number, ids: readonly number[]): Work<void> {
  const jobs = { sql: FORGET_JOBS, values: { ids: new Ids(ids) } };
  yield* together([jobs, ...forgetting(ids)]);
  yield* strike(waiter, ids);
}

export function* pruneWaits(limit: number): Work<number> {
  let pruned = 0;
  for (const [waiter, ids] of byWaiter(yield* query<WaitRow>(EXPIRED, { limit }))) {
    pruned += yield* change(STRIKE_EXPIRED, { waiter, ids });
  }
  return pruned;
}

/** Lets the processes that wait for these jobs know that they were removed and have not ended. */
export function* markRemoved(ids: readonly number[]): Work<void> {
  if (ids.length === 0) return;
  for (const [waiter, jobIds] of byWaiter(yield* query<WaitRow>(WAITS, { ids: sorted(ids) }))) {
    yield* change(MARK_REMOVED, { waiter, ids: jobIds });
  }
}

export function* removedOf(waiter: number, ids: readonly number[]): Work<number[]> {
  const rows = yield* query<WaitRow>(REMOVED, { waiter, ids: sorted(ids) });
  return rows.map((row) => Number(row.job_id));
}

/** In the order in which rows are locked. */
function byWaiter(rows: readonly WaitRow[]): [waiter: number, jobIds: number[]][] {
  const jobIds = new Map<number, number[]>();
  for (const row of rows) {
    const waiter = Number(row.waiter);
    jobIds.set(waiter, [...(jobIds.get(waiter) ?? []), Number(row.job_id)]);
  }
  const waiters = [...jobIds].sort(([a], [b]) => a - b);
  return waiters.map(([waiter, ids]) => [waiter, sorted(ids)]);
}

function awaitedJob({ id, queue, state, result, error, options }: AwaitedRow): AwaitedJob {
  const overrides = parseOr<JobOverrides>(options);
  const isRequest = overrides?.reply === true;
  const hasKey = overrides?.key !== undefined;
  return {
    id: safeId(id),
    queue,
    state: state as JobState,
    result,
    error: readError(error),
    isRequest,
    hasKey,
  };
}

function sorted(ids: readonly number[]): number[] {
  return [...ids].sort((a, b) => a - b);
}
