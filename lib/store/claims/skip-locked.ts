import type { ClaimRequest } from '../job-store.js';
import type { ClaimedJob } from '../../job/job.js';
import { inStartOrder } from '../../job/outcome.js';
import type { Bound } from './claim-bounds.js';
import { CLAIMED_COLUMNS, claimedJob, type ClaimedRow } from '../sql/claimed-row.js';
import { addClaim } from '../sql/lease.js';
import { change, Ids, query, type Work } from '../sql/statement.js';

// Index claim (queue, runnable, priority, id) yields the order, so nothing is sorted and nothing behind the last job is
// locked. Exactly one queue a statement: IN over queues would sort, and lock all of them. Claiming changes no column of
// that index; the price is that a scan passes over active jobs, hence the conditions on the rows.
const CLAIMABLE = `
  FROM {jobs} FORCE INDEX ({jobs}_claim)
  WHERE queue = :queue AND runnable = 1 AND state = 'waiting' AND run_at IS NULL`;

const LOCK_OLDEST = `
  SELECT ${CLAIMED_COLUMNS} ${CLAIMABLE}
  ORDER BY priority, id
  LIMIT :limit
  FOR UPDATE SKIP LOCKED`;

/** The same behind the last places claimed. Written out as ranges: a row constructor would not narrow the scan. */
const lockOldestBeyond = (bounds: number) => `
  SELECT ${CLAIMED_COLUMNS} ${CLAIMABLE} AND (${rangesBeyond(bounds)})
  ORDER BY priority, id
  LIMIT :limit
  FOR UPDATE SKIP LOCKED`;

const MOST_URGENT = `
  SELECT priority ${CLAIMABLE}
  ORDER BY priority, id
  LIMIT 1`;

// One priority at a time: an index can be read backwards, but not priority forwards and id backwards.
const LOCK_NEWEST = `
  SELECT ${CLAIMED_COLUMNS} ${CLAIMABLE} AND priority = :priority
  ORDER BY id DESC
  LIMIT :limit
  FOR UPDATE SKIP LOCKED`;

const MARK_ACTIVE = `
  UPDATE {jobs} FORCE INDEX (PRIMARY)
  SET state = 'active', claim_id = :claimId, attempt = attempt + 1,
      max_attempts = COALESCE(NULLIF(max_attempts, 0), :maxAttempts)
  WHERE :ids AND claim_id = 0`;

const MARKED = `
  SELECT id
  FROM {jobs} FORCE INDEX (PRIMARY)
  WHERE :ids AND claim_id = :claimId`;

/** Locks the next jobs, passing over those that others have locked, and writes the claim. MySQL 8 and MariaDB 10.6 up. */
export function* claimSkippingLocked(request: ClaimRequest, bounds: readonly Bound[]): Work<ClaimedJob[]> {
  const { claimId, maxAttempts } = request;
  const rows = yield* request.order === 'fifo' ? lockOldest(request, bounds) : lockNewest(request);
  if (rows.length === 0) return [];
  const ids = new Ids(rows.map(({ id }) => id));
  let ours = rows;
  if ((yield* change(MARK_ACTIVE, { claimId, maxAttempts, ids })) !== rows.length) {
    // Never on a server that locks. Only what the UPDATE changed is ours.
    const marked = new Set((yield* query<{ id: number }>(MARKED, { ids, claimId })).map(({ id }) => id));
    ours = rows.filter(({ id }) => marked.has(id));
    if (ours.length === 0) return [];
  }
  const jobs = inStartOrder(
    ours.map((row) => claimedJob({ ...row, attempt: row.attempt + 1 }, request.queue, maxAttempts)),
  );
  yield* addClaim(request, jobs);
  return jobs;
}

function* lockOldest({ queue, limit }: ClaimRequest, bounds: readonly Bound[]): Work<readonly ClaimedRow[]> {
  if (bounds.length > 0) {
    const places = bounds.flatMap(({ priority, lastId }, index) => [
      [`priority${index}`, priority],
      [`lastId${index}`, lastId],
    ]);
    const values = Object.fromEntries(places) as Record<string, number>;
    const rows = yield* query<ClaimedRow>(lockOldestBeyond(bounds.length), { queue, limit, ...values });
    // That there is no more is believed only from the head. It hands out again what has just been locked.
    if (rows.length === limit) return rows;
  }
  return yield* query<ClaimedRow>(LOCK_OLDEST, { queue, limit });
}

/** Before, at, between and behind the bounds' priorities. */
function rangesBeyond(bounds: number): string {
  const ranges = ['priority < :priority0'];
  for (let index = 0; index < bounds; index++) {
    ranges.push(`(priority = :priority${index} AND id > :lastId${index})`);
    if (index > 0) ranges.push(`(priority > :priority${index - 1} AND priority < :priority${index})`);
  }
  return [...ranges, `priority > :priority${bounds - 1}`].join(' OR ');
}

function* lockNewest({ queue, limit }: ClaimRequest): Work<readonly ClaimedRow[]> {
  const [urgent] = yield* query<{ priority: number }>(MOST_URGENT, { queue });
  if (!urgent) return [];
  return yield* query<ClaimedRow>(LOCK_NEWEST, { queue, limit, priority: urgent.priority });
}
