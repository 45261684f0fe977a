import type { ClaimedJob } from '../../job/job.js';
import type { ClaimRequest } from '../job-store.js';
import { CLAIMED_COLUMNS, type ClaimedRow } from '../sql/claimed-row.js';
import { query, type Work } from '../sql/statement.js';
import { mayLook, noteLast, type ClaimStart } from './claim-bounds.js';
import { CLAIMABLE, oldest, places, rangesBetween, rangesBeyond, waitsBehind } from './claimable.js';
import { claimLocked } from './claim-row.js';

const LOCK_OLDEST = `
  SELECT ${CLAIMED_COLUMNS} ${CLAIMABLE}
  ORDER BY priority, id
  LIMIT :limit
  FOR UPDATE SKIP LOCKED`;

/**
 * The same beyond the last places claimed, and with each row whether a more urgent job waits that these ranges leave out.
 * That is looked for backwards and without locks: dead entries of finished jobs lie in front of the bound by the hundred
 * thousand, and a scan that comes from the head, or locks, passes over every one before it knows that its range is empty.
 */
const lockOldestBeyond = (bounds: number) => `
  SELECT ${CLAIMED_COLUMNS},
         (SELECT u.priority
          FROM {jobs} u FORCE INDEX ({jobs}_claim)
          WHERE u.queue = :queue AND u.runnable = 1 AND u.state = 'waiting' AND u.run_at IS NULL
            AND (${rangesBetween(bounds, 'u.')})
          ORDER BY u.priority DESC, u.id DESC
          LIMIT 1) AS overtaken
  ${CLAIMABLE} AND (${rangesBeyond(bounds)})
  ORDER BY priority, id
  LIMIT :limit
  FOR UPDATE SKIP LOCKED`;

// One priority at a time: an index can be read backwards, but not priority forwards and id backwards.
const LOCK_NEWEST = `
  SELECT ${CLAIMED_COLUMNS} ${CLAIMABLE} AND priority = :priority
  ORDER BY id DESC
  LIMIT :limit
  FOR UPDATE SKIP LOCKED`;

/** Locks the jobs that stand first in the queue. */
type LockFirst = (request: ClaimRequest) => Work<readonly ClaimedRow[]>;

/** Locks the next jobs, passing over those that others have locked, and writes the claim. */
export function* claimSkippingLocked(
  request: ClaimRequest,
  start: ClaimStart,
  lockFirst: LockFirst = lockFromHead,
): Work<ClaimedJob[]> {
  if (request.order === 'lifo') return yield* claimLocked(request, yield* lockNewest(request));
  const rows = yield* lockOldest(request, start, lockFirst);
  noteLast(start.reached, rows);
  request.onLocked?.();
  return yield* claimLocked(request, rows);
}

function* lockOldest(request: ClaimRequest, start: ClaimStart, lockFirst: LockFirst): Work<readonly ClaimedRow[]> {
  const { queue, limit } = request;
  const { bounds, committed } = start;
  if (bounds.length > 0) {
    const values = { queue, limit, ...places(bounds) };
    const rows = yield* query<Beyond>(lockOldestBeyond(bounds.length), values);
    const isOvertaken = rows.length > 0 && rows[0]!.overtaken !== null;
    // That there is no more is believed only after a look behind the bounds.
    const isShort = rows.length < limit && mayLook(start, rows.length);
    if (!isOvertaken && !(isShort && (yield* waitsBehind(queue, committed)))) return rows;
  }
  // It hands out again what has just been locked.
  return yield* lockFirst(request);
}

function lockFromHead({ queue, limit }: ClaimRequest): Work<readonly ClaimedRow[]> {
  return query<ClaimedRow>(LOCK_OLDEST, { queue, limit });
}

interface Beyond extends ClaimedRow {
  overtaken: number | null;
}

function* lockNewest({ queue, limit }: ClaimRequest): Work<readonly ClaimedRow[]> {
  const urgent = yield* oldest(queue);
  if (!urgent) return [];
  return yield* query<ClaimedRow>(LOCK_NEWEST, { queue, limit, priority: urgent.priority });
}
