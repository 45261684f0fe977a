import type { ClaimRequest, QueuePosition } from '../../../rows/claim.js';
import { CLAIMED_COLUMNS, type ClaimedRow } from '../../../rows/claimed-row.js';
import { pageSize } from '../../../../common/lists.js';
import { idsOf } from '../../../../job/identifiers.js';
import { Ids, query, type Work } from '../../../core/statement.js';
import { CLAIMABLE, OF_QUEUE } from './claimable.js';
import { cursorValues, moreUrgent, rangesAfter, type LockedRow, type LockOldest } from './skip-locked.js';

const selectWaiting = (range: string) => `
  SELECT priority, id ${CLAIMABLE} ${range}
  ORDER BY priority, id
  LIMIT :limit`;

const FIRST_WAITING = selectWaiting('');
const NEXT_WAITING = selectWaiting(`AND (${rangesAfter(1)})`);

const readOldestAfter = (cursorCount: number) => `
  SELECT priority, id, ${moreUrgent(cursorCount)} ${CLAIMABLE} AND (${rangesAfter(cursorCount)})
  ORDER BY priority, id
  LIMIT :limit`;

const LOCK_READ_JOBS = `
  SELECT ${CLAIMED_COLUMNS}
  FROM {jobs} FORCE INDEX (PRIMARY)
  WHERE :ids AND ${OF_QUEUE} AND state = 'waiting'
  ORDER BY id
  FOR UPDATE SKIP LOCKED`;

// A claim reads more jobs each time, because other claims may have locked them by the thousand.
const PAGE_FACTOR = 8;
const MAX_PAGE_SIZE = 500;

/** Reads the first waiting jobs without locks, and locks only those: never an active job. */
export const WAITING_ONLY: LockOldest = {
  *first(request) {
    return (yield* lockFrom(yield* firstWaiting(request), request)).rows;
  },

  *after({ queue, limit }, cursors) {
    const values = { queue, limit, ...cursorValues(cursors) };
    const found = yield* query<QueuePosition & { moreUrgent: number | null }>(readOldestAfter(cursors.length), values);
    const { rows } = yield* lockFrom(found, { queue, limit });
    return rows.map((row) => ({ ...row, moreUrgent: found[0]!.moreUrgent }));
  },
};

export function firstWaiting({ queue, limit }: Pick<ClaimRequest, 'queue' | 'limit'>): Work<readonly QueuePosition[]> {
  return query<QueuePosition>(FIRST_WAITING, { queue, limit });
}

interface LockedJobs {
  readonly rows: readonly LockedRow[];
  /** More jobs may wait behind this one. */
  readonly last?: QueuePosition | undefined;
}

/** Locks the jobs of the first page, and more behind it in place of those that are locked. */
export function* lockFrom(
  firstPage: readonly QueuePosition[],
  { queue, limit }: Pick<ClaimRequest, 'queue' | 'limit'>,
  { maxReads = Infinity, growsPages = true } = {},
): Work<LockedJobs> {
  const rows = [...(yield* lockRead(queue, firstPage))];
  let last = firstPage.length < limit ? undefined : firstPage.at(-1)!;
  for (let reads = 1, size = limit; last && rows.length < limit && reads < maxReads; reads++) {
    const missing: number = limit - rows.length;
    const grown = pageSize(Math.min(size * PAGE_FACTOR, MAX_PAGE_SIZE));
    size = growsPages ? Math.max(missing, grown) : missing;
    const values = { queue, limit: size, ...cursorValues([last]) };
    const found: readonly QueuePosition[] = yield* query<QueuePosition>(NEXT_WAITING, values);
    rows.push(...(yield* lockRead(queue, found)).slice(0, missing));
    last = found.length < size ? undefined : found.at(-1)!;
  }
  return { rows, last: rows.length < limit ? last : undefined };
}

function* lockRead(queue: string, found: readonly QueuePosition[]): Work<readonly ClaimedRow[]> {
  if (found.length === 0) return [];
  const rows = yield* query<ClaimedRow>(LOCK_READ_JOBS, { ids: new Ids(idsOf(found)), queue });
  return [...rows].sort((a, b) => a.priority - b.priority || a.id - b.id);
}
