import type { ClaimedJob } from '../../../../job/job.js';
import type { DedicatedConnection } from '../../../core/sql-database.js';
import { safeId } from '../../../../job/identifiers.js';
import { query, type Work } from '../../../core/statement.js';
import type { ClaimRequest, ClaimImplementation, QueuePosition, ScanCursor, ScanStart } from '../../../rows/claim.js';
import { CLAIMED_COLUMNS, claimLocked, type ClaimedRow } from '../../../rows/claimed-row.js';
import { IN_QUEUE } from '../../../tables/runnable.js';
import { CLAIMABLE, findFirstWaiting } from './claimable.js';

const IS_IGNORED = 'this server accepts SKIP LOCKED but returns rows that another transaction has locked';

const LOCK_QUEUE_IF_FREE = `
  SELECT queue
  FROM {queues} {by primary}
  WHERE queue = :queue
  {lock free}`;

/**
 * Tests on two connections whether SKIP LOCKED skips a locked row. Some engines only parse SKIP LOCKED: there, two workers
 * would claim the same job.
 */
export async function skipLockedRefusal(
  openDedicated: () => Promise<DedicatedConnection>,
  queue: string,
): Promise<string | undefined> {
  const isIgnored = await withLockedQueue(openDedicated, queue, (locked) =>
    // No row if another worker runs the same test now: SKIP LOCKED has then skipped its row, so the test has passed.
    locked
      ? withLockedQueue(openDedicated, queue, (isReturned) => Promise.resolve(isReturned))
      : Promise.resolve(false),
  );
  return isIgnored ? IS_IGNORED : undefined;
}

/** @param act receives whether a transaction on a connection of its own was given the row of the queue */
async function withLockedQueue<T>(
  openDedicated: () => Promise<DedicatedConnection>,
  queue: string,
  act: (locked: boolean) => Promise<T>,
): Promise<T> {
  const connection = await openDedicated();
  try {
    await connection.send(() => query('START TRANSACTION'));
    return await act((await connection.send(() => query(LOCK_QUEUE_IF_FREE, { queue }))).length > 0);
  } finally {
    connection.drop();
  }
}

const lockOldest = (also = '') => `
  SELECT ${CLAIMED_COLUMNS}${also} ${CLAIMABLE}
  ORDER BY priority, id
  LIMIT :limit
  FOR UPDATE SKIP LOCKED`;

export const LOCK_OLDEST = lockOldest();

const lockOldestAfter = (cursors: readonly ScanCursor[], also = '') => `
  SELECT ${CLAIMED_COLUMNS}, ${moreUrgent(cursors.length)}${also} ${CLAIMABLE} AND (${rangesAfter(cursors)})
  ORDER BY priority, id
  LIMIT :limit
  FOR UPDATE SKIP LOCKED`;

// Reads one priority, because an index scan cannot read priorities forwards and ids backwards.
const LOCK_NEWEST = `
  SELECT ${CLAIMED_COLUMNS} ${CLAIMABLE} AND priority = :priority
  ORDER BY id DESC
  LIMIT :limit
  FOR UPDATE SKIP LOCKED`;

const lastClaimed = (column: string) => `
         (SELECT c.${column}
          FROM {claims} c {by claims.position}
          WHERE c.queue = :queue
          ORDER BY c.queue DESC, c.last_priority DESC, c.last_id DESC
          LIMIT 1)`;

// The last position that any process has claimed.
const LAST_CLAIMED = `,${lastClaimed('last_priority')} AS lastClaimedPriority,${lastClaimed('last_id')} AS lastClaimedId`;

/** What a scan has read beside its jobs. */
export interface ScanFacts {
  /** With cursors: the priority of a more urgent job that waits before them. */
  readonly moreUrgent?: number | null;
  /** If the scan was asked for it: the last position that any process had claimed. Null: none. */
  readonly lastClaimedPriority?: number | null;
  readonly lastClaimedId?: number | null;
}

/** A locked job. The first one has the facts. */
export type LockedRow = ClaimedRow & ScanFacts;

/** Locks the oldest jobs of a queue: from its head, or after the cursors. `also`: columns of further facts. */
export interface LockOldest {
  first(request: ClaimRequest, also?: string): Work<readonly LockedRow[]>;
  after(request: ClaimRequest, cursors: readonly ScanCursor[], also?: string): Work<readonly LockedRow[]>;
}

export const BY_SCAN: LockOldest = {
  first: ({ queue, limit }, also) => query<LockedRow>(also ? lockOldest(also) : LOCK_OLDEST, { queue, limit }),
  after: ({ queue, limit }, cursors, also) =>
    query<LockedRow>(lockOldestAfter(cursors, also), { queue, limit, ...cursorValues(cursors) }),
};

/** Locks waiting jobs, without those that other transactions have locked, and marks them in the same transaction. */
export function skippingLocked(lock: LockOldest): ClaimImplementation {
  return {
    mayShareTransaction: true,
    groupLock: 'lock free',
    claim: (request, start) => claimSkippingLocked(request, start, lock),
    cursorReads: { findWorkBefore, hasWorkAfter },
  };
}

function* claimSkippingLocked(request: ClaimRequest, start: ScanStart, lock: LockOldest): Work<ClaimedJob[]> {
  const isFifo = request.order !== 'lifo';
  const rows = yield* isFifo ? lockFirst(request, start, lock) : lockNewest(request);
  if (isFifo) start.reach(rows);
  request.onLocked?.(rows.length);
  return yield* claimLocked(request, rows, isFifo ? rows.at(-1) : undefined);
}

function* lockFirst(request: ClaimRequest, start: ScanStart, lock: LockOldest): Work<readonly ClaimedRow[]> {
  const { cursors } = start;
  const also = start.needsLastClaimed ? LAST_CLAIMED : undefined;
  const rows = yield* cursors.length === 0 ? lock.first(request, also) : lock.after(request, cursors, also);
  if (rows.length > 0 && also) start.foundLastClaimed(lastClaimedOf(rows[0]!));
  if (cursors.length === 0 || rows.length === 0 || rows[0]!.moreUrgent === null) return rows;
  // Returns the jobs that this transaction has just locked, too.
  return yield* lock.first(request);
}

function lastClaimedOf({ lastClaimedPriority: priority, lastClaimedId: id }: ScanFacts): QueuePosition | undefined {
  return typeof priority === 'number' ? { priority, id: Number(id) } : undefined;
}

function* lockNewest({ queue, limit }: ClaimRequest): Work<readonly ClaimedRow[]> {
  const urgent = yield* findFirstWaiting(queue);
  if (!urgent) return [];
  return yield* query<ClaimedRow>(LOCK_NEWEST, { queue, limit, priority: urgent.priority });
}

const firstBefore = (cursors: readonly ScanCursor[]) => `
  SELECT priority, id ${CLAIMABLE} AND (${rangesBetween(cursors.length)} OR ${rangesInPriorities(cursors, '<=')})
  ORDER BY priority, id
  LIMIT 1`;

function* findWorkBefore(queue: string, cursors: readonly ScanCursor[]): Work<QueuePosition | undefined> {
  const [first] = yield* query<QueuePosition>(firstBefore(cursors), { queue, ...cursorValues(cursors) });
  return first && { ...first, id: safeId(first.id) };
}

// Both subqueries read away from the cursors. The other way, a read of an empty range would pass all deleted entries that
// stand before the cursors.
const workAfter = (cursors: readonly ScanCursor[]) => `
  SELECT (SELECT 1 ${CLAIMABLE} AND (${rangesAfter(cursors)}) ORDER BY priority, id LIMIT 1) AS isAfter,
         ${moreUrgent(cursors.length)}`;

function* hasWorkAfter(queue: string, cursors: readonly ScanCursor[]): Work<boolean> {
  const [row] = yield* query<ScanFacts & { isAfter: number | null }>(workAfter(cursors), {
    queue,
    ...cursorValues(cursors),
  });
  return row!.isAfter !== null || row!.moreUrgent !== null;
}

export function cursorValues(cursors: readonly QueuePosition[]): Record<string, number> {
  const named = cursors.flatMap(({ priority, id }, index) => [
    [`priority${index}`, priority],
    [`lastId${index}`, id],
  ]);
  return Object.fromEntries(named) as Record<string, number>;
}

type Bound = Pick<ScanCursor, 'passesClaimed'>;

// Written as ranges, because a row constructor would not narrow the scan.
export function rangesAfter(bounds: readonly Bound[]): string {
  return `${rangesInPriorities(bounds, '>')} OR priority > :priority${bounds.length - 1}`;
}

function rangesInPriorities(bounds: readonly Bound[], comparison: '>' | '<='): string {
  const idOf = ({ passesClaimed }: Bound, index: number) => (passesClaimed ? lastClaimedId(index) : `:lastId${index}`);
  const ranges = bounds.map(
    (bound, index) => `(priority = :priority${index} AND id ${comparison} ${idOf(bound, index)})`,
  );
  return ranges.join(' OR ');
}

/**
 * The last job of the priority that any process has claimed, if it is behind the cursor. Read without locks, from one
 * entry of the index. A scan over the active jobs between would lock each of them to see its state.
 */
const lastClaimedId = (index: number) => `COALESCE((
      SELECT MAX(c.last_id)
      FROM {claims} c {by claims.position}
      WHERE c.queue = :queue AND c.last_priority = :priority${index} AND c.last_id > :lastId${index}), :lastId${index})`;

/** The priorities before, and between, those of the cursors. */
function rangesBetween(cursorCount: number, of = ''): string {
  const ranges = [`${of}priority < :priority0`];
  for (let index = 1; index < cursorCount; index++) {
    ranges.push(`(${of}priority > :priority${index - 1} AND ${of}priority < :priority${index})`);
  }
  return ranges.join(' OR ');
}

/**
 * The priority of a more urgent job that waits before the cursors, read backwards and without locks: deleted entries of
 * finished jobs stand before a cursor by the hundred thousand. A locking scan, or one from the head, would read all of
 * them to find an empty range.
 */
export const moreUrgent = (cursorCount: number) => `
         (SELECT u.priority
          FROM {jobs} u FORCE INDEX ({jobs}_queue)
          WHERE u.queue = :queue AND u.runnable = ${IN_QUEUE} AND u.state = 'waiting' AND u.run_at IS NULL AND u.group_key = ''
            AND (${rangesBetween(cursorCount, 'u.')})
          ORDER BY u.priority DESC, u.id DESC
          LIMIT 1) AS moreUrgent`;
