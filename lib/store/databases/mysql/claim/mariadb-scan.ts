import { CLAIMED_COLUMNS } from '../../../rows/claimed-row.js';
import { query } from '../../../core/statement.js';
import { CLAIMABLE } from './claimable.js';
import { firstWaiting, lockFrom, WAITING_ONLY } from './lock-waiting-only.js';
import { BY_SCAN, cursorValues, rangesAfter, type LockedRow, type LockOldest } from './skip-locked.js';

const LOCK_OLDEST_AFTER = `
  SELECT ${CLAIMED_COLUMNS} ${CLAIMABLE} AND (${rangesAfter(1)})
  ORDER BY priority, id
  LIMIT :limit
  FOR UPDATE SKIP LOCKED`;

// After that a scan skips all jobs that other claims have locked, in one statement.
const MAX_READS = 3;

/**
 * MariaDB keeps the lock of every row that a scan has examined. A flush that completes such an active job would wait for the
 * claim. If the scan then reached a row of that flush, the server would report a deadlock. Most active jobs stand at the
 * head of the queue, where this claim locks none of them. After the cursors a scan meets few, and costs one statement less.
 *
 * A claim of a limited queue scans nowhere: while it holds the row of the limits, flushes of all processes wait for it.
 */
export const MARIADB_SCAN: LockOldest = {
  *first(request) {
    if (request.isLimited) return yield* WAITING_ONLY.first(request);
    const { queue, limit } = request;
    const found = yield* firstWaiting(request);
    const { rows, last } = yield* lockFrom(found, request, { maxReads: MAX_READS, growsPages: false });
    if (!last) return rows;
    const values = { queue, limit: limit - rows.length, ...cursorValues([last]) };
    return [...rows, ...(yield* query<LockedRow>(LOCK_OLDEST_AFTER, values))];
  },

  after: (request, cursors) => (request.isLimited ? WAITING_ONLY : BY_SCAN).after(request, cursors),
};
