import { groupBy } from '../../common/lists.js';
import { inArchive, type Archives } from '../tables/archive-options.js';
import { idsOf, withSafeIds } from '../../job/identifiers.js';
import { HISTORY_COLUMNS } from '../ends/end-jobs.js';
import { deleteFrom, execute, Ids, query, type Work } from '../core/statement.js';
import { expiredIn } from '../rows/expiry.js';
import type { TableRow } from '../tables/table-schemas.js';

// The locks end with the statement.
const EXPIRED = expiredIn('history', 'id');

// Skips rows that another process archives or retries now. Other statements lock the history in id order; this one may
// lock in another order, because it never waits for a lock.
const LOCK_EXPIRED = expiredIn('history', 'id, queue, created_at, finished_at');

// The archive may contain an earlier job with the same id. It contains the same job if a person has restored its
// history row.
const SELECT_ARCHIVED = `
  SELECT id, created_at, finished_at
  FROM {archive}
  WHERE :ids`;

const COPY_TO_ARCHIVE = `
  INSERT INTO {archive} (${HISTORY_COLUMNS})
  SELECT ${HISTORY_COLUMNS}
  FROM {history} {by primary}
  WHERE :ids`;

const DELETE_EXPIRED = deleteFrom('history', ':ids AND expires_at <= :now');

// Later than any clock can show, so that no archiving reads the job again.
const NEVER_EXPIRE = `
  UPDATE {history} {by primary}
  SET expires_at = ${Number.MAX_SAFE_INTEGER}
  WHERE :ids`;

type ArchivedRow = Pick<TableRow<'history'>, 'id' | 'created_at' | 'finished_at'>;
type ExpiredRow = ArchivedRow & Pick<TableRow<'history'>, 'queue'>;

export function* prune(limit: number): Work<number> {
  const expired = withSafeIds(yield* query<{ id: number }>(EXPIRED, { limit }));
  if (expired.length === 0) return 0;
  return yield* execute(DELETE_EXPIRED, { ids: new Ids(idsOf(expired)) });
}

/**
 * Moves at most `limit` finished jobs whose retention is over to the archives of their queues, and deletes those of
 * queues without an archive. Locks the history, then the archives. A job stays in the history for ever if the archive
 * has another job with its id, because the library never changes archived rows.
 */
export function* archiveExpired(limit: number, archives: Archives): Work<number> {
  const locked = withSafeIds(yield* query<ExpiredRow>(LOCK_EXPIRED, { limit }));
  if (locked.length === 0) return 0;
  const queues = new Set(locked.map(({ queue }) => String(queue)));
  const archiveOf = new Map(Array.from(queues, (queue) => [queue, archives.tableOf(queue)]));
  for (const [to, rows] of groupBy(locked, ({ queue }) => archiveOf.get(String(queue))))
    if (to !== undefined) yield* copyToArchive(rows, to);
  yield* execute(DELETE_EXPIRED, { ids: new Ids(idsOf(locked)) });
  return locked.length;
}

function* copyToArchive(rows: readonly ExpiredRow[], to: string): Work<void> {
  // INSERT IGNORE would hide other errors, and an INSERT that reads its own table would buffer all rows first.
  const archived = yield* query<ArchivedRow>(inArchive(SELECT_ARCHIVED, to), { ids: new Ids(idsOf(rows)) });
  const archivedById = new Map(archived.map((row) => [Number(row.id), row]));
  const missing = rows.filter(({ id }) => !archivedById.has(Number(id)));
  const conflicting = rows.filter((row) => isDifferentJob(row, archivedById.get(Number(row.id))));
  if (missing.length > 0) yield* execute(inArchive(COPY_TO_ARCHIVE, to), { ids: new Ids(idsOf(missing)) });
  if (conflicting.length > 0) yield* execute(NEVER_EXPIRE, { ids: new Ids(idsOf(conflicting)) });
}

function isDifferentJob(row: ExpiredRow, archived: ArchivedRow | undefined): boolean {
  const isEqual = (column: 'created_at' | 'finished_at') => Number(row[column]) === Number(archived?.[column]);
  return archived !== undefined && !(isEqual('created_at') && isEqual('finished_at'));
}
