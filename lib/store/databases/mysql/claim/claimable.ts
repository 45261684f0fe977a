import type { QueuePosition } from '../../../rows/scan-cursors.js';
import { safeId } from '../../../../job/identifiers.js';
import { query, type Work } from '../../../core/statement.js';
import { IN_QUEUE } from '../../../tables/runnable.js';

// Index queue (queue, runnable, run_at, group_key, priority, id) yields the order for run_at NULL
// and one group_key, so the server does not sort,
// and locks no job after the last one. Each statement reads one queue, because IN over queues would sort and lock all
// of them. A claim changes no column of the index. In return a scan reads active jobs too, hence the conditions on the
// rows.
export const OF_QUEUE = `queue = :queue AND runnable = ${IN_QUEUE} AND run_at IS NULL AND group_key = ''`;

export const CLAIMABLE = `
  FROM {jobs} FORCE INDEX ({jobs}_queue)
  WHERE ${OF_QUEUE} AND state = 'waiting'`;

const FIRST_WAITING = `
  SELECT priority, id ${CLAIMABLE}
  ORDER BY priority, id
  LIMIT 1`;

const workBefore = (cursorCount: number) => `
  SELECT 1 AS one ${CLAIMABLE} AND (${rangesBetween(cursorCount)} OR ${rangesInPriorities(cursorCount, '<=')})
  LIMIT 1`;

/** Reads without locks. */
export function* findFirstWaiting(queue: string): Work<QueuePosition | undefined> {
  const [first] = yield* query<QueuePosition>(FIRST_WAITING, { queue });
  return first && { ...first, id: safeId(first.id) };
}

export function* hasWorkBefore(queue: string, cursors: readonly QueuePosition[]): Work<boolean> {
  return (yield* query(workBefore(cursors.length), { queue, ...cursorValues(cursors) })).length > 0;
}

export function cursorValues(cursors: readonly QueuePosition[]): Record<string, number> {
  const named = cursors.flatMap(({ priority, id }, index) => [
    [`priority${index}`, priority],
    [`lastId${index}`, id],
  ]);
  return Object.fromEntries(named) as Record<string, number>;
}

/** All jobs from a position on, including the position with the id `lastId0 + 1`. */
export const FROM_POSITION = `(${rangesAfter(1)})`;

// Written as ranges, because a row constructor would not narrow the scan.
export function rangesAfter(cursorCount: number): string {
  return `${rangesInPriorities(cursorCount, '>')} OR priority > :priority${cursorCount - 1}`;
}

function rangesInPriorities(cursorCount: number, comparison: '>' | '<='): string {
  const rangeOf = (index: number) => `(priority = :priority${index} AND id ${comparison} :lastId${index})`;
  return Array.from({ length: cursorCount }, (_, index) => rangeOf(index)).join(' OR ');
}

/** The priorities before, and between, those of the cursors. */
export function rangesBetween(cursorCount: number, of = ''): string {
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
