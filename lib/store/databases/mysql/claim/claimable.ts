import type { QueuePosition } from '../../../rows/claim.js';
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

/** Reads without locks. */
export function* findFirstWaiting(queue: string): Work<QueuePosition | undefined> {
  const [first] = yield* query<QueuePosition>(FIRST_WAITING, { queue });
  return first && { ...first, id: safeId(first.id) };
}
