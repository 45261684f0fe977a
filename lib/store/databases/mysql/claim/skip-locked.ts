import type { ClaimedJob } from '../../../../job/job.js';
import type { DedicatedConnection } from '../../../core/sql-database.js';
import { query, type Work } from '../../../core/statement.js';
import type { ClaimRequest, ClaimImplementation, QueuePosition, ScanStart } from '../../../rows/claim.js';
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

export const LOCK_OLDEST = `
  SELECT ${CLAIMED_COLUMNS} ${CLAIMABLE}
  ORDER BY priority, id
  LIMIT :limit
  FOR UPDATE SKIP LOCKED`;

const lockOldestAfter = (cursorCount: number) => `
  SELECT ${CLAIMED_COLUMNS}, ${moreUrgent(cursorCount)} ${CLAIMABLE} AND (${rangesAfter(cursorCount)})
  ORDER BY priority, id
  LIMIT :limit
  FOR UPDATE SKIP LOCKED`;

// Reads one priority, because an index scan cannot read priorities forwards and ids backwards.
const LOCK_NEWEST = `
  SELECT ${CLAIMED_COLUMNS} ${CLAIMABLE} AND priority = :priority
  ORDER BY id DESC
  LIMIT :limit
  FOR UPDATE SKIP LOCKED`;

/** A locked job. With cursors, each also has the priority of a more urgent job that waits before them. */
export type LockedRow = ClaimedRow & { readonly moreUrgent?: number | null };

/** Locks the oldest jobs of a queue: from its head, or after the cursors. */
export interface LockOldest {
  first(request: ClaimRequest): Work<readonly LockedRow[]>;
  after(request: ClaimRequest, cursors: readonly QueuePosition[]): Work<readonly LockedRow[]>;
}

export const BY_SCAN: LockOldest = {
  first: ({ queue, limit }) => query<LockedRow>(LOCK_OLDEST, { queue, limit }),
  after: ({ queue, limit }, cursors) =>
    query<LockedRow>(lockOldestAfter(cursors.length), { queue, limit, ...cursorValues(cursors) }),
};

/** Locks waiting jobs, without those that other transactions have locked, and marks them in the same transaction. */
export function skippingLocked(lock: LockOldest): ClaimImplementation {
  return {
    mayShareTransaction: true,
    groupLock: 'lock free',
    claim: (request, start) => claimSkippingLocked(request, start, lock),
    hasWorkBefore,
  };
}

function* claimSkippingLocked(request: ClaimRequest, start: ScanStart, lock: LockOldest): Work<ClaimedJob[]> {
  const isFifo = request.order !== 'lifo';
  const rows = yield* isFifo ? lockOldest(request, start, lock) : lockNewest(request);
  if (isFifo) start.reach(rows);
  request.onLocked?.(rows.length);
  return yield* claimLocked(request, rows);
}

function* lockOldest(request: ClaimRequest, start: ScanStart, lock: LockOldest): Work<readonly ClaimedRow[]> {
  const { queue, limit } = request;
  const { cursors, committedCursors } = start;
  if (cursors.length > 0) {
    const rows = yield* lock.after(request, cursors);
    const hasMoreUrgent = rows.length > 0 && rows[0]!.moreUrgent !== null;
    // A short claim is final only after a missed-work check.
    const isShort = rows.length < limit && start.mayCheckForMissedWork(rows.length);
    if (!hasMoreUrgent && !(isShort && (yield* hasWorkBefore(queue, committedCursors)))) return rows;
  }
  // Returns the jobs that this transaction has just locked, too.
  return yield* lock.first(request);
}

function* lockNewest({ queue, limit }: ClaimRequest): Work<readonly ClaimedRow[]> {
  const urgent = yield* findFirstWaiting(queue);
  if (!urgent) return [];
  return yield* query<ClaimedRow>(LOCK_NEWEST, { queue, limit, priority: urgent.priority });
}

const workBefore = (cursorCount: number) => `
  SELECT 1 AS one ${CLAIMABLE} AND (${rangesBetween(cursorCount)} OR ${rangesInPriorities(cursorCount, '<=')})
  LIMIT 1`;

function* hasWorkBefore(queue: string, cursors: readonly QueuePosition[]): Work<boolean> {
  return (yield* query(workBefore(cursors.length), { queue, ...cursorValues(cursors) })).length > 0;
}

export function cursorValues(cursors: readonly QueuePosition[]): Record<string, number> {
  const named = cursors.flatMap(({ priority, id }, index) => [
    [`priority${index}`, priority],
    [`lastId${index}`, id],
  ]);
  return Object.fromEntries(named) as Record<string, number>;
}

// Written as ranges, because a row constructor would not narrow the scan.
export function rangesAfter(cursorCount: number): string {
  return `${rangesInPriorities(cursorCount, '>')} OR priority > :priority${cursorCount - 1}`;
}

function rangesInPriorities(cursorCount: number, comparison: '>' | '<='): string {
  const rangeOf = (index: number) => `(priority = :priority${index} AND id ${comparison} :lastId${index})`;
  return Array.from({ length: cursorCount }, (_, index) => rangeOf(index)).join(' OR ');
}

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
