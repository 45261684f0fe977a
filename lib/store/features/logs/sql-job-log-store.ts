import { groupBy } from '../../../common/lists.js';
import type { JobLogEntry, JobLogStore } from './job-log-store.js';
import { ascending, idsOf, isWhole } from '../../../job/identifiers.js';
import type { StoreParts } from '../../rows/store-parts.js';
import { expiredIn } from '../../rows/expiry.js';
import { IS_NOT_RESCUED } from '../../rows/lease.js';
import {
  executeAll,
  executeInBatches,
  insertInChunks,
  query,
  statement,
  type SqlValue,
  type Work,
} from '../../core/statement.js';
import { readInBatches } from '../../core/in-batches.js';
import { nextChecks } from '../../reads/remaining-jobs.js';
import { jobLogDeletions } from '../../ends/earlier-runs.js';
import type { TableRow } from '../../tables/table-schemas.js';

const MAX_LINES = 1_000;
// The time until the pruner first checks whether the job still exists.
const CLEANUP_CHECK_INTERVAL_MS = 600_000;

// In the common lock order, these tables come after the history.
const LOCK_PROGRESS = `
  SELECT job_id, value, lines_logged
  FROM {progress} {by primary}
  WHERE job_id IN (:ids)
  ORDER BY job_id {lock}`;

// Reads without a lock: if the event loop blocked in this transaction, the lock would keep the heartbeat thread of the
// same process from renewing the lease. The lock on the progress orders this write before those of the next attempt.
const VALID_CLAIMS = `
  SELECT id
  FROM {claims}
  WHERE id IN (:claimIds) AND ${IS_NOT_RESCUED}`;

const PROGRESS_ROWS = `INTO {progress} (job_id, value, lines_logged, updated_at, expires_at)
  VALUES :rows(?, ?, ?, :now, :now + ${CLEANUP_CHECK_INTERVAL_MS})`;

// A missing row is not locked. If the next attempt has inserted it meanwhile, this INSERT fails.
const INSERT_PROGRESS = `
  INSERT ${PROGRESS_ROWS}`;

const REPLACE_PROGRESS = `
  REPLACE ${PROGRESS_ROWS}`;

const INSERT_LINES = `
  INSERT INTO {logs} (job_id, number, logged_at, line)
  VALUES :rows(?, ?, :now - ?, ?)`;

const PROGRESS_OF = `
  SELECT job_id, value
  FROM {progress}
  WHERE job_id IN (:ids) AND value IS NOT NULL`;

const EXPIRED = expiredIn('progress', 'job_id');

const POSTPONE_CLEANUP_CHECK = `
  UPDATE {progress} {by primary}
  SET expires_at = :at
  WHERE job_id IN (:ids)`;

type ProgressRow = Pick<TableRow<'progress'>, 'job_id' | 'value' | 'lines_logged'>;

export function sqlJobLogStore({ database }: StoreParts): JobLogStore {
  return {
    async writeJobLogs(entries) {
      if (entries.length > 0) await database.transaction(() => writeJobLogs(entries));
    },

    async progressOf(ids) {
      const rows = await readInBatches<{ job_id: number; value: string }>(database, PROGRESS_OF, ids);
      return new Map(rows.map((row) => [Number(row.job_id), row.value]));
    },

    async deleteJobLogs(ids) {
      if (ids.length > 0) await database.transaction(() => executeAll(jobLogDeletions(ids)));
    },

    async pruneJobLogs(limit) {
      // The lock ends with the statement.
      const expired = await database.runIdempotent(() => query(EXPIRED, { limit: 1 }));
      return expired.length === 0 ? 0 : database.transaction(() => pruneJobLogs(limit));
    },
  };
}

function* writeJobLogs(entries: readonly JobLogEntry[]): Work<void> {
  const [stored, claims] = yield* executeAll([
    { sql: LOCK_PROGRESS, values: { ids: ascending(entries.map(({ jobId }) => jobId)) } },
    { sql: VALID_CLAIMS, values: { claimIds: ascending(entries.map(({ claimId }) => claimId)) } },
  ]);
  const validClaims = new Set(idsOf(claims!.rows as unknown as { id: number }[]));
  const writable = entries.filter(({ claimId }) => validClaims.has(claimId)).sort((a, b) => a.jobId - b.jobId);
  const progress = new Map((stored!.rows as unknown as readonly ProgressRow[]).map((row) => [Number(row.job_id), row]));
  const inserts: SqlValue[][] = [];
  const replacements: SqlValue[][] = [];
  const logged: SqlValue[][] = [];
  for (const { jobId, value, lines } of writable) {
    const last = progress.get(jobId);
    const from = linesLoggedOf(last);
    (last ? replacements : inserts).push([jobId, value ?? last?.value ?? null, from + lines.length]);
    lines.forEach(({ text, agoMs }, index) => {
      const number = from + index + 1;
      if (number <= MAX_LINES) logged.push([jobId, number, Math.round(agoMs), text]);
    });
  }
  yield* insertInChunks(INSERT_PROGRESS, inserts);
  yield* insertInChunks(REPLACE_PROGRESS, replacements);
  yield* insertInChunks(INSERT_LINES, logged);
}

/** An invalid number of another program counts as the maximum, so that the attempt can still set progress. */
function linesLoggedOf(row: ProgressRow | undefined): number {
  return isWhole(row?.lines_logged, 0, 2 ** 30) ? row.lines_logged : row ? MAX_LINES : 0;
}

function* pruneJobLogs(limit: number): Work<number> {
  const rows = yield* query<{ job_id: number }>(EXPIRED, { limit });
  if (rows.length === 0) return 0;
  const ids = ascending(rows.map(({ job_id }) => Number(job_id)));
  const checks = yield* nextChecks(ids, CLEANUP_CHECK_INTERVAL_MS);
  const deleted = ids.filter((id) => !checks.has(id));
  const postponed = groupBy(ascending(checks.keys()), (id) => checks.get(id)!);
  yield* executeInBatches(
    Array.from(postponed, ([at, ofTime]) => statement(POSTPONE_CLEANUP_CHECK, { ids: ofTime, at })),
  );
  if (deleted.length > 0) yield* executeAll(jobLogDeletions(deleted));
  return ids.length;
}
