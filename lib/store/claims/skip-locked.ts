import type { ClaimRequest } from '../job-store.js';
import type { ClaimedJob } from '../../job/job.js';
import { inStartOrder } from '../../job/outcome.js';
import type { Bound, ClaimStart } from './claim-bounds.js';
import { CLAIMED_COLUMNS, claimedJob, type ClaimedRow } from '../sql/claimed-row.js';
import { claimRow } from '../sql/lease.js';
import { Ids, lastTogether, query, type Work } from '../sql/statement.js';

// Index claim (queue, runnable, run_at, priority, id) yields the order, run_at being NULL, so nothing is sorted and nothing behind the last job is
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

const OLDEST = `
  SELECT priority, id ${CLAIMABLE}
  ORDER BY priority, id
  LIMIT 1`;

const LOCK_OLDEST_FROM = `
  SELECT ${CLAIMED_COLUMNS} ${CLAIMABLE} AND (${rangesBeyond(1)})
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

const waitingBehind = (bounds: number) => `
  SELECT 1 AS one ${CLAIMABLE} AND (${rangesBetween(bounds)} OR ${rangesUpTo(bounds)})
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

/** Locks the jobs that stand first in the queue. */
type LockFirst = (request: ClaimRequest) => Work<readonly ClaimedRow[]>;

/** Locks the next jobs, passing over those that others have locked, and writes the claim. */
export function* claimSkippingLocked(
  request: ClaimRequest,
  start: ClaimStart,
  lockFirst: LockFirst = lockFromHead,
): Work<ClaimedJob[]> {
  const { claimId, maxAttempts } = request;
  const rows = yield* request.order === 'fifo' ? lockOldest(request, start, lockFirst) : lockNewest(request);
  if (rows.length === 0) return [];
  const ids = new Ids(rows.map(({ id }) => id));
  const jobs = inStartOrder(
    rows.map((row) => claimedJob({ ...row, attempt: row.attempt + 1 }, request.queue, maxAttempts)),
  );
  const mark = { sql: MARK_ACTIVE, values: { claimId, maxAttempts, ids } };
  const [marked] = yield* lastTogether([mark, claimRow(request, jobs)]);
  if (marked!.changed === rows.length) return jobs;
  // Never on a server that locks. Only what the UPDATE changed is ours.
  const ours = new Set((yield* query<{ id: number }>(MARKED, { ids, claimId })).map(({ id }) => id));
  return jobs.filter(({ id }) => ours.has(id));
}

/**
 * The same on MariaDB, which keeps the lock of every row that a scan has examined: whoever is about to complete an active
 * job that was passed over waits for the claim, and where the scan goes on to a row of his, one of the two is rolled back.
 * Most active jobs are passed over at the head.
 */
export function claimBehindActive(request: ClaimRequest, start: ClaimStart): Work<ClaimedJob[]> {
  return claimSkippingLocked(request, start, lockFromFirst);
}

/** Whether a job waits that a scan from the bounds does not see. */
export function* waitsBehind(queue: string, bounds: readonly Bound[]): Work<boolean> {
  return (yield* query(waitingBehind(bounds.length), { queue, ...places(bounds) })).length > 0;
}

function* lockOldest(
  request: ClaimRequest,
  { bounds, mayLook }: ClaimStart,
  lockFirst: LockFirst,
): Work<readonly ClaimedRow[]> {
  const { queue, limit } = request;
  if (bounds.length > 0) {
    const values = { queue, limit, ...places(bounds) };
    const rows = yield* query<Beyond>(lockOldestBeyond(bounds.length), values);
    const isOvertaken = rows.length > 0 && rows[0]!.overtaken !== null;
    // That there is no more is believed only after a look behind the bounds.
    const isShort = rows.length < limit && mayLook;
    if (!isOvertaken && !(isShort && (yield* waitsBehind(queue, bounds)))) return rows;
  }
  // It hands out again what has just been locked.
  return yield* lockFirst(request);
}

function lockFromHead({ queue, limit }: ClaimRequest): Work<readonly ClaimedRow[]> {
  return query<ClaimedRow>(LOCK_OLDEST, { queue, limit });
}

function* lockFromFirst({ queue, limit }: ClaimRequest): Work<readonly ClaimedRow[]> {
  const [first] = yield* query<Place>(OLDEST, { queue });
  if (!first) return [];
  const from = places([{ priority: first.priority, lastId: first.id - 1 }]);
  return yield* query<ClaimedRow>(LOCK_OLDEST_FROM, { queue, limit, ...from });
}

interface Place {
  priority: number;
  id: number;
}

interface Beyond extends ClaimedRow {
  overtaken: number | null;
}

function places(bounds: readonly Bound[]): Record<string, number> {
  const named = bounds.flatMap(({ priority, lastId }, index) => [
    [`priority${index}`, priority],
    [`lastId${index}`, lastId],
  ]);
  return Object.fromEntries(named) as Record<string, number>;
}

// Written out as ranges: a row constructor would not narrow the scan.
function rangesBeyond(bounds: number): string {
  const own = Array.from({ length: bounds }, (_, index) => `(priority = :priority${index} AND id > :lastId${index})`);
  return [...own, `priority > :priority${bounds - 1}`].join(' OR ');
}

function rangesUpTo(bounds: number): string {
  const own = Array.from({ length: bounds }, (_, index) => `(priority = :priority${index} AND id <= :lastId${index})`);
  return own.join(' OR ');
}

/** More urgent than the bounds' priorities, or between them. */
function rangesBetween(bounds: number, of = ''): string {
  const ranges = [`${of}priority < :priority0`];
  for (let index = 1; index < bounds; index++) {
    ranges.push(`(${of}priority > :priority${index - 1} AND ${of}priority < :priority${index})`);
  }
  return ranges.join(' OR ');
}

function* lockNewest({ queue, limit }: ClaimRequest): Work<readonly ClaimedRow[]> {
  const [urgent] = yield* query<Place>(OLDEST, { queue });
  if (!urgent) return [];
  return yield* query<ClaimedRow>(LOCK_NEWEST, { queue, limit, priority: urgent.priority });
}
