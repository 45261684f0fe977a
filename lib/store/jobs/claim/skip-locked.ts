import type { ClaimedJob } from '../../../job/job.js';
import type { ClaimRequest } from '../job-store.js';
import { CLAIMED_COLUMNS, type ClaimedRow } from '../claimed-row.js';
import { query, type Work } from '../../core/statement.js';
import { mayCheckForMissedWork, advanceLastIds, type ScanStart } from './scan-cursors.js';
import { CLAIMABLE, findFirstWaiting, cursorValues, rangesBetween, rangesAfter, hasWorkBefore } from './claimable.js';
import { claimLocked } from './write-claim.js';

export const LOCK_OLDEST = `
  SELECT ${CLAIMED_COLUMNS} ${CLAIMABLE}
  ORDER BY priority, id
  LIMIT :limit
  FOR UPDATE SKIP LOCKED`;

/**
 * Locks jobs after the cursors. Each row also has the priority of a more urgent job that waits before the cursors,
 * which is read backwards and without locks. Deleted entries of finished jobs stand before a cursor by the hundred
 * thousand. A locking scan, or one from the head, would read all of them to find an empty range.
 */
const lockOldestAfter = (cursorCount: number) => `
  SELECT ${CLAIMED_COLUMNS},
         (SELECT u.priority
          FROM {jobs} u FORCE INDEX ({jobs}_queue)
          WHERE u.queue = :queue AND u.runnable = 1 AND u.state = 'waiting' AND u.run_at IS NULL AND u.group_key = ''
            AND (${rangesBetween(cursorCount, 'u.')})
          ORDER BY u.priority DESC, u.id DESC
          LIMIT 1) AS moreUrgent
  ${CLAIMABLE} AND (${rangesAfter(cursorCount)})
  ORDER BY priority, id
  LIMIT :limit
  FOR UPDATE SKIP LOCKED`;

// Reads one priority, because an index scan cannot read priorities forwards and ids backwards.
const LOCK_NEWEST = `
  SELECT ${CLAIMED_COLUMNS} ${CLAIMABLE} AND priority = :priority
  ORDER BY id DESC
  LIMIT :limit
  FOR UPDATE SKIP LOCKED`;

type LockFirst = (request: ClaimRequest) => Work<readonly ClaimedRow[]>;

export function* claimSkippingLocked(
  request: ClaimRequest,
  start: ScanStart,
  lockFirst: LockFirst = lockFromHead,
): Work<ClaimedJob[]> {
  const isFifo = request.order !== 'lifo';
  const rows = yield* isFifo ? lockOldest(request, start, lockFirst) : lockNewest(request);
  if (isFifo) advanceLastIds(start.reached, rows);
  request.onLocked?.(rows.length);
  return yield* claimLocked(request, rows);
}

function* lockOldest(request: ClaimRequest, start: ScanStart, lockFirst: LockFirst): Work<readonly ClaimedRow[]> {
  const { queue, limit } = request;
  const { cursors, committedCursors } = start;
  if (cursors.length > 0) {
    const values = { queue, limit, ...cursorValues(cursors) };
    const rows = yield* query<ClaimedRow & { moreUrgent: number | null }>(lockOldestAfter(cursors.length), values);
    const hasMoreUrgent = rows.length > 0 && rows[0]!.moreUrgent !== null;
    // A short claim is final only after a missed-work check.
    const isShort = rows.length < limit && mayCheckForMissedWork(start, rows.length);
    if (!hasMoreUrgent && !(isShort && (yield* hasWorkBefore(queue, committedCursors)))) return rows;
  }
  // Returns the jobs that this transaction has just locked, too.
  return yield* lockFirst(request);
}

function lockFromHead({ queue, limit }: ClaimRequest): Work<readonly ClaimedRow[]> {
  return query<ClaimedRow>(LOCK_OLDEST, { queue, limit });
}

function* lockNewest({ queue, limit }: ClaimRequest): Work<readonly ClaimedRow[]> {
  const urgent = yield* findFirstWaiting(queue);
  if (!urgent) return [];
  return yield* query<ClaimedRow>(LOCK_NEWEST, { queue, limit, priority: urgent.priority });
}
