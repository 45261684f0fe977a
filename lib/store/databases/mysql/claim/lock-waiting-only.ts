import type { ClaimRequest, QueuePosition, ScanCursor } from '../../../rows/claim.js';
import { CLAIMED_COLUMNS, type ClaimedRow } from '../../../rows/claimed-row.js';
import { pageSize } from '../../../../common/lists.js';
import { idsOf } from '../../../../job/identifiers.js';
import { Ids, query, type Work } from '../../../core/statement.js';
import { CLAIMABLE, OF_QUEUE } from './claimable.js';
import {
  BY_SCAN,
  cursorValues,
  moreUrgent,
  rangesAfter,
  type LockedRow,
  type LockOldest,
  type ScanFacts,
} from './skip-locked.js';

const selectWaiting = (range: string, facts = '') => `
  SELECT priority, id${facts} ${CLAIMABLE} ${range}
  ORDER BY priority, id
  LIMIT :limit`;

/** The last job that this claim has read. */
const OWN_POSITION = { passesClaimed: false };

const NEXT_WAITING = selectWaiting(`AND (${rangesAfter([OWN_POSITION])})`);

const readOldestAfter = (cursors: readonly ScanCursor[], also = '') =>
  selectWaiting(`AND (${rangesAfter(cursors)})`, `, ${moreUrgent(cursors.length)}${also}`);

const LOCK_READ_JOBS = `
  SELECT ${CLAIMED_COLUMNS}
  FROM {jobs} FORCE INDEX (PRIMARY)
  WHERE :ids AND ${OF_QUEUE} AND state = 'waiting'
  ORDER BY id
  FOR UPDATE SKIP LOCKED`;

const LOCK_OLDEST_AFTER = `
  SELECT ${CLAIMED_COLUMNS} ${CLAIMABLE} AND (${rangesAfter([OWN_POSITION])})
  ORDER BY priority, id
  LIMIT :limit
  FOR UPDATE SKIP LOCKED`;

// After that a scan skips all jobs that other claims have locked, in one statement.
const MAX_READS = 3;
// A claim that may not scan reads more jobs each time.
const PAGE_FACTOR = 8;
const MAX_PAGE_SIZE = 500;

/**
 * Locks no active job at the head of the queue, which holds most of them. MariaDB keeps the lock of every row that a scan
 * has examined. A flush that completes such an active job would wait for the claim. If the scan then reached a row of
 * that flush, the server would report a deadlock. So this claim reads the first waiting jobs without locks, and locks only
 * those.
 *
 * After cursors that pass claimed jobs, a scan meets few active ones, and costs one statement less. A claim of a limited
 * queue scans nowhere: while it holds the row of the limits, flushes of all processes wait for it.
 */
export const WAITING_ONLY: LockOldest = {
  *first(request, also) {
    const { queue, limit } = request;
    return yield* lockFrom(yield* query<ReadJob>(selectWaiting('', also), { queue, limit }), request);
  },

  *after(request, cursors, also) {
    const mayScan = !request.isLimited && cursors.every(({ passesClaimed }) => passesClaimed);
    if (mayScan) return yield* BY_SCAN.after(request, cursors, also);
    const { queue, limit } = request;
    const values = { queue, limit, ...cursorValues(cursors) };
    return yield* lockFrom(yield* query<ReadJob>(readOldestAfter(cursors, also), values), request);
  },
};

type ReadJob = QueuePosition & ScanFacts;

/** Locks the jobs of the first page, and more behind it in place of those that are locked. */
function* lockFrom(
  firstPage: readonly ReadJob[],
  { queue, limit, isLimited }: ClaimRequest,
): Work<readonly LockedRow[]> {
  const rows: LockedRow[] = [...(yield* lockRead(queue, firstPage))];
  const maxReads = isLimited ? Infinity : MAX_READS;
  let last = firstPage.length < limit ? undefined : firstPage.at(-1)!;
  for (let reads = 1, size = limit; last && rows.length < limit && reads < maxReads; reads++) {
    const missing: number = limit - rows.length;
    size = isLimited ? Math.max(missing, pageSize(Math.min(size * PAGE_FACTOR, MAX_PAGE_SIZE))) : missing;
    const values = { queue, limit: size, ...cursorValues([last]) };
    const found: readonly QueuePosition[] = yield* query<QueuePosition>(NEXT_WAITING, values);
    rows.push(...(yield* lockRead(queue, found)).slice(0, missing));
    last = found.length < size ? undefined : found.at(-1)!;
  }
  if (last && rows.length < limit) {
    const values = { queue, limit: limit - rows.length, ...cursorValues([last]) };
    rows.push(...(yield* query<LockedRow>(LOCK_OLDEST_AFTER, values)));
  }
  // Also if all jobs of the first page, which has the facts, were locked.
  if (rows.length > 0) rows[0] = { ...firstPage[0]!, ...rows[0]! };
  return rows;
}

function* lockRead(queue: string, found: readonly QueuePosition[]): Work<readonly ClaimedRow[]> {
  if (found.length === 0) return [];
  const rows = yield* query<ClaimedRow>(LOCK_READ_JOBS, { ids: new Ids(idsOf(found)), queue });
  return [...rows].sort((a, b) => a.priority - b.priority || a.id - b.id);
}
