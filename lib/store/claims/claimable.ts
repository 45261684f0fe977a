import type { Bound } from './claim-bounds.js';
import { safeId } from '../sql/claimed-row.js';
import { query, type Work } from '../sql/statement.js';

// Index claim (queue, runnable, run_at, priority, id) yields the order, run_at being NULL, so nothing is sorted and nothing behind the last job is
// locked. Exactly one queue a statement: IN over queues would sort, and lock all of them. Claiming changes no column of
// that index; the price is that a scan passes over active jobs, hence the conditions on the rows.
export const OF_QUEUE = `queue = :queue AND runnable = 1 AND run_at IS NULL`;

export const CLAIMABLE = `
  FROM {jobs} FORCE INDEX ({jobs}_claim)
  WHERE ${OF_QUEUE} AND state = 'waiting'`;

const OLDEST = `
  SELECT priority, id ${CLAIMABLE}
  ORDER BY priority, id
  LIMIT 1`;

const waitingBehind = (bounds: number) => `
  SELECT 1 AS one ${CLAIMABLE} AND (${rangesBetween(bounds)} OR ${rangesUpTo(bounds)})
  LIMIT 1`;

export interface Place {
  priority: number;
  id: number;
}

/** The job that stands first, as far as can be seen without locks. */
export function* oldest(queue: string): Work<Place | undefined> {
  const [first] = yield* query<Place>(OLDEST, { queue });
  return first && { ...first, id: safeId(first.id) };
}

/** Whether a job waits that a scan from the bounds does not see. */
export function* waitsBehind(queue: string, bounds: readonly Bound[]): Work<boolean> {
  return (yield* query(waitingBehind(bounds.length), { queue, ...places(bounds) })).length > 0;
}

export function places(bounds: readonly Bound[]): Record<string, number> {
  const named = bounds.flatMap(({ priority, lastId }, index) => [
    [`priority${index}`, priority],
    [`lastId${index}`, lastId],
  ]);
  return Object.fromEntries(named) as Record<string, number>;
}

/** From one place on, which it includes: its id stands for `lastId0 + 1`. */
export const BEYOND_PLACE = `(${rangesBeyond(1)})`;

// Written out as ranges: a row constructor would not narrow the scan.
export function rangesBeyond(bounds: number): string {
  const own = Array.from({ length: bounds }, (_, index) => `(priority = :priority${index} AND id > :lastId${index})`);
  return [...own, `priority > :priority${bounds - 1}`].join(' OR ');
}

function rangesUpTo(bounds: number): string {
  const own = Array.from({ length: bounds }, (_, index) => `(priority = :priority${index} AND id <= :lastId${index})`);
  return own.join(' OR ');
}

/** More urgent than the bounds' priorities, or between them. */
export function rangesBetween(bounds: number, of = ''): string {
  const ranges = [`${of}priority < :priority0`];
  for (let index = 1; index < bounds; index++) {
    ranges.push(`(${of}priority > :priority${index - 1} AND ${of}priority < :priority${index})`);
  }
  return ranges.join(' OR ');
}
