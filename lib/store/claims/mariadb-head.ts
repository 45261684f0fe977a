import type { ClaimedJob } from '../../job/job.js';
import type { ClaimRequest } from '../job-store.js';
import { CLAIMED_COLUMNS, safeId, type ClaimedRow } from '../sql/claimed-row.js';
import { Ids, query, type Work } from '../sql/statement.js';
import type { ClaimStart } from './claim-bounds.js';
import { CLAIMABLE, places, rangesBeyond, type Place } from './claimable.js';
import { claimSkippingLocked } from './skip-locked.js';

const waiting = (behind: string) => `
  SELECT priority, id ${CLAIMABLE} ${behind}
  ORDER BY priority, id
  LIMIT :limit`;

const FIRST_WAITING = waiting('');
const WAITING_BEHIND = waiting(`AND (${rangesBeyond(1)})`);

const LOCK_SEEN = `
  SELECT ${CLAIMED_COLUMNS}
  FROM {jobs} FORCE INDEX (PRIMARY)
  WHERE :ids AND state = 'waiting' AND run_at IS NULL AND queue = :queue
  ORDER BY id
  FOR UPDATE SKIP LOCKED`;

const LOCK_OLDEST_FROM = `
  SELECT ${CLAIMED_COLUMNS} ${CLAIMABLE} AND (${rangesBeyond(1)})
  ORDER BY priority, id
  LIMIT :limit
  FOR UPDATE SKIP LOCKED`;

/**
 * Claims as `claimSkippingLocked` does, but locks no active job at the head of the queue, where most of them stand. MariaDB
 * keeps the lock of every row that a scan has examined: a flush that completes an active job which the scan has passed over
 * waits for the claim, and if the scan comes to a row of that flush, the server takes it for a deadlock. So the first waiting
 * jobs are read without locks, and only those are locked.
 */
export function claimBehindActive(request: ClaimRequest, start: ClaimStart): Work<ClaimedJob[]> {
  return claimSkippingLocked(request, start, lockSeen);
}

// Further jobs that other claims have locked are left to a scan, which passes over them in one statement.
const MOST_LOOKS = 3;

/** Looks at the first waiting jobs, and locks those that no other claim has locked since. */
function* lockSeen({ queue, limit }: ClaimRequest): Work<readonly ClaimedRow[]> {
  const rows: ClaimedRow[] = [];
  let last: Place | undefined;
  for (let looks = 0; looks < MOST_LOOKS && rows.length < limit; looks++) {
    const wanted = limit - rows.length;
    const sql: string = last ? WAITING_BEHIND : FIRST_WAITING;
    const seen = yield* query<Place>(sql, { queue, limit: wanted, ...(last && behind(last)) });
    if (seen.length > 0) {
      const ids = new Ids(seen.map(({ id }) => safeId(id)));
      rows.push(...inOrder(yield* query<ClaimedRow>(LOCK_SEEN, { ids, queue })));
    }
    if (seen.length < wanted) return rows;
    last = seen.at(-1)!;
  }
  if (rows.length === limit) return rows;
  const values = { queue, limit: limit - rows.length, ...behind(last!) };
  return [...rows, ...(yield* query<ClaimedRow>(LOCK_OLDEST_FROM, values))];
}

function behind({ priority, id }: Place): Record<string, number> {
  return places([{ priority, lastId: id }]);
}

function inOrder(rows: readonly ClaimedRow[]): ClaimedRow[] {
  return [...rows].sort((a, b) => a.priority - b.priority || a.id - b.id);
}
