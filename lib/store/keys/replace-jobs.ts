import { batchesOf } from '../../common/batches-of.js';
import type { NewJob } from '../../job/job.js';
import { RETURNED } from '../runnable.js';
import { isScheduled, chunkJobs } from '../jobs/enqueue.js';
import { ascending, idsOf } from '../core/safe-id.js';
import { query, executeAll, type Statement, type Work } from '../core/statement.js';

const lockIdle = (skipLocked: string) => `
  SELECT id
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE id IN (:ids) AND claim_id = 0
  ORDER BY id /*! FOR UPDATE${skipLocked} */`;

const LOCK_IDLE = lockIdle('');
const LOCK_IDLE_SKIP_LOCKED = lockIdle(' SKIP LOCKED');

// Replaces all columns of a job but its id and its creation time.
const REPLACE = `
  UPDATE {jobs} /*! FORCE INDEX (PRIMARY) */
  SET name = :name, run_at = COALESCE(:runAtMs, :now + :delayMs), state = :state, runnable = :runnable,
      priority = :priority, attempt = 0, max_attempts = :maxAttempts, payload = :payload, headers = :headers,
      options = :overrides, group_key = :group, error = NULL, due_at = CASE WHEN :runnable = 0 THEN NULL ELSE :now END
  WHERE id = :id AND claim_id = 0`;

const MAX_IDS = 500;

/** Returns the ids of the locked jobs. No worker can claim them until this transaction ends. */
export function lockIdleJobsSkipLocked(ids: readonly number[]): Work<ReadonlySet<number>> {
  return lockInBatches(LOCK_IDLE_SKIP_LOCKED, ids);
}

/** Like `lockIdleJobsSkipLocked`, but waits for other transactions. */
export function lockIdleJobs(ids: readonly number[]): Work<ReadonlySet<number>> {
  return lockInBatches(LOCK_IDLE, ids);
}

function* lockInBatches(sql: string, ids: readonly number[]): Work<ReadonlySet<number>> {
  const locked = new Set<number>();
  for (const batch of batchesOf(ascending(ids), MAX_IDS)) {
    for (const id of idsOf(yield* query<{ id: number }>(sql, { ids: batch }))) locked.add(id);
  }
  return locked;
}

/** Replaces unclaimed jobs that the transaction has locked. Each starts anew. */
export function* replaceJobs(jobs: readonly (readonly [id: number, job: NewJob])[]): Work<void> {
  let from = 0;
  for (const { length } of chunkJobs(jobs.map(([, job]) => job))) {
    yield* executeAll(jobs.slice(from, (from += length)).map(([id, job]) => replaceJob(id, job)));
  }
}

function replaceJob(id: number, job: NewJob): Statement {
  const { name, runAtMs, delayMs, priority, maxAttempts, payload, headers, overrides } = job;
  const { group = '' } = job;
  // The job keeps its id, so it may stand before the head of its group.
  const [state, runnable] = isScheduled(job) ? ['scheduled', 0] : ['waiting', group === '' ? 1 : RETURNED];
  const values = { id, name, runAtMs, delayMs, state, runnable, priority, payload, headers, overrides, group };
  return { sql: REPLACE, values: { ...values, maxAttempts: maxAttempts ?? 0 } };
}
