import type { JobOverrides } from '../../../job/job-overrides.js';
import { readError } from '../../../job/read-columns.js';
import { groupBy } from '../../../common/lists.js';
import type { AwaitedJob, WaitStore } from './wait-store.js';
import { parseJsonOrNull } from '../../core/parse-json.js';
import { ascending, safeId } from '../../../job/identifiers.js';
import { expiredIn } from '../../rows/expiry.js';
import type { StoreParts } from '../../rows/store-parts.js';
import { statement, deleteFrom, execute, Ids, query, executeAll, type Work } from '../../core/statement.js';
import type { RecordRow } from '../../rows/job-record.js';
import { inBatches, readInBatches } from '../../core/in-batches.js';
import { jobLogDeletions } from '../../ends/earlier-runs.js';
import type { TableRow } from '../../tables/table-schemas.js';

// One statement, so that a job that moves between the tables is found in one of them. Its LIMIT holds in place of the
// sql_select_limit of a session: a job that was cut from the answer would be taken for a removed one.
const AWAITED_JOBS = `
  SELECT id, queue, state, result, error, options
  FROM {history}
  WHERE id IN (:ids)
  UNION ALL
  SELECT id, queue, state, NULL, NULL, options
  FROM {jobs}
  WHERE id IN (:ids)
  LIMIT :limit`;

// All three databases support REPLACE. Only the process itself writes its rows.
const REGISTER = `
  REPLACE INTO {waits} (waiter, job_id, expires_at)
  VALUES :rows(?, ?, :now + ?)`;

// Without the condition on expires_at, MySQL scans the whole table if it has about as many rows as there are ids, even
// with the forced index.
const UNREGISTER = deleteFrom('waits', 'waiter = :waiter AND job_id IN (:ids) AND expires_at > 0');

const WAITERS = `
  SELECT DISTINCT waiter
  FROM {waits} {by waits.job}
  WHERE job_id IN (:ids)`;

// In the common lock order, the history comes before waits.
const DELETE_FINISHED = deleteFrom('history', ':ids');

// The locks end with the statement.
const EXPIRED = expiredIn('waits', 'waiter, job_id');

const DELETE_EXPIRED = deleteFrom('waits', 'waiter = :waiter AND job_id IN (:ids) AND expires_at <= :now');

const WAITS = `
  SELECT waiter, job_id
  FROM {waits} {by waits.job}
  WHERE job_id IN (:ids) {latest}`;

// expires_at = 1 marks a removed job, because no wait expires at that time. The row stays until the waiter reads it or
// the pruner deletes it.
const MARK_REMOVED = `
  UPDATE {waits} {by primary}
  SET expires_at = 1
  WHERE waiter = :waiter AND job_id IN (:ids)`;

const REMOVED = `
  SELECT job_id
  FROM {waits} {by primary}
  WHERE waiter = :waiter AND job_id IN (:ids) AND expires_at = 1
  LIMIT :limit`;

type WaitRow = Omit<TableRow<'waits'>, 'expires_at'>;

type AwaitedRow = Pick<RecordRow, 'id' | 'queue' | 'state' | 'result' | 'error' | 'options'>;

export function sqlWaitStore({ database }: StoreParts): WaitStore {
  return {
    async readJobs(ids) {
      const rows = await readInBatches<AwaitedRow>(database, AWAITED_JOBS, ids);
      return new Map(rows.map((row) => [safeId(row.id), toAwaitedJob(row)]));
    },

    register(waiter, ids, forMs) {
      const rowsOf = (batch: readonly number[]) => batch.map((id) => [waiter, id, forMs]);
      return inBatches(ids, (batch) => database.transaction(() => execute(REGISTER, { rows: rowsOf(batch) })));
    },

    unregister: (waiter, ids) =>
      inBatches(ids, (batch) => database.transaction(() => execute(UNREGISTER, { waiter, ids: batch }))),

    async waitersOf(ids) {
      const rows = await readInBatches<{ waiter: number }>(database, WAITERS, ids);
      return [...new Set(rows.map(({ waiter }) => Number(waiter)))];
    },

    async removedOf(waiter, ids) {
      const rows = await readInBatches<WaitRow>(database, REMOVED, ids, { waiter });
      return new Set(rows.map(({ job_id }) => Number(job_id)));
    },

    deleteOutcomes: (waiter, ids) =>
      inBatches(ids, (batch) => database.transaction(() => deleteOutcomes(waiter, batch))),

    pruneWaits: (limit) => database.runIdempotent(() => pruneWaits(limit)),
  };
}

function* deleteOutcomes(waiter: number, ids: readonly number[]): Work<void> {
  const jobs = statement(DELETE_FINISHED, { ids: new Ids(ids) });
  yield* executeAll([jobs, ...jobLogDeletions(ids)]);
  yield* execute(UNREGISTER, { waiter, ids });
}

function* pruneWaits(limit: number): Work<number> {
  let pruned = 0;
  for (const [waiter, ids] of groupByWaiter(yield* query<WaitRow>(EXPIRED, { limit }))) {
    pruned += yield* execute(DELETE_EXPIRED, { waiter, ids });
  }
  return pruned;
}

/** Marks the waits for these jobs, so that the waiting processes learn that the jobs were removed. */
export function* markRemoved(ids: readonly number[]): Work<void> {
  if (ids.length === 0) return;
  for (const [waiter, jobIds] of groupByWaiter(yield* query<WaitRow>(WAITS, { ids: ascending(ids) }))) {
    yield* execute(MARK_REMOVED, { waiter, ids: jobIds });
  }
}

/** The waits by waiter, in the order of their locks. */
function groupByWaiter(rows: readonly WaitRow[]): [waiter: number, jobIds: number[]][] {
  const waiters = [...groupBy(rows, ({ waiter }) => Number(waiter))].sort(([a], [b]) => a - b);
  return waiters.map(([waiter, waits]) => [waiter, ascending(waits.map(({ job_id }) => Number(job_id)))]);
}

function toAwaitedJob({ queue, state, result, error, options }: AwaitedRow): AwaitedJob {
  return { queue, state, result, error: readError(error), overrides: parseJsonOrNull<JobOverrides>(options) };
}
