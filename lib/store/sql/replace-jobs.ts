import type { NewJob } from '../../job/job.js';
import { isForLater, jobChunks } from './enqueue.js';
import { query, together, type Statement, type Work } from './statement.js';

const LOCK_FREE_IDLE = `
  SELECT id
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE id IN (:ids) AND claim_id = 0
  ORDER BY id /*! FOR UPDATE SKIP LOCKED */`;

const LOCK_IDLE = `
  SELECT id
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE id IN (:ids) AND claim_id = 0
  ORDER BY id /*! FOR UPDATE */`;

// All of a job but its id and the time at which it came.
const REPLACE = `
  UPDATE {jobs} /*! FORCE INDEX (PRIMARY) */
  SET name = :name, run_at = COALESCE(:runAtMs, :now + :delayMs), state = :state, runnable = :runnable,
      priority = :priority, attempt = 0, max_attempts = :maxAttempts, payload = :payload, headers = :headers,
      options = :overrides, error = NULL, due_at = CASE WHEN :runnable = 1 THEN :now END
  WHERE id = :id AND claim_id = 0`;

const MOST_IDS = 500;

/** Those of the jobs that no worker has, and nobody else has locked. Until the transaction ends nobody claims them. */
export function lockFreeIdleJobs(ids: readonly number[]): Work<ReadonlySet<number>> {
  return lock(LOCK_FREE_IDLE, ids);
}

/** The same, waiting for others who have locked them. */
export function lockIdleJobs(ids: readonly number[]): Work<ReadonlySet<number>> {
  return lock(LOCK_IDLE, ids);
}

function* lock(sql: string, ids: readonly number[]): Work<ReadonlySet<number>> {
  const sorted = [...ids].sort((a, b) => a - b);
  const locked = new Set<number>();
  for (let from = 0; from < sorted.length; from += MOST_IDS) {
    const rows = yield* query<{ id: number }>(sql, { ids: sorted.slice(from, from + MOST_IDS) });
    for (const { id } of rows) locked.add(Number(id));
  }
  return locked;
}

/** Puts each job in the place of one that the transaction has locked, which nobody has claimed. It starts anew. */
export function* replaceJobs(jobs: readonly (readonly [id: number, job: NewJob])[]): Work<void> {
  let from = 0;
  for (const { length } of jobChunks(jobs.map(([, job]) => job))) {
    yield* together(jobs.slice(from, (from += length)).map(([id, job]) => replacement(id, job)));
  }
}

function replacement(id: number, job: NewJob): Statement {
  const { name, runAtMs, delayMs, priority, maxAttempts, payload, headers, overrides } = job;
  const [state, runnable] = isForLater(job) ? ['scheduled', 0] : ['waiting', 1];
  const values = { id, name, runAtMs, delayMs, state, runnable, priority, payload, headers, overrides };
  return { sql: REPLACE, values: { ...values, maxAttempts: maxAttempts ?? 0 } };
}
