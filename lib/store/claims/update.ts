import type { ClaimedJob } from '../../job/job.js';
import type { ClaimRequest } from '../job-store.js';
import { CLAIMED_COLUMNS, type ClaimedRow } from '../sql/claimed-row.js';
import { together, type Work } from '../sql/statement.js';
import { BEYOND_PLACE, oldest, OF_QUEUE } from './claimable.js';
import { MARK, writeClaim } from './claim-row.js';

// Whoever comes second waits for the first one's locks, and then passes over the jobs it finds active. Begins at the first
// job that waits, so that it does not wait for active ones that others have locked.
const takeFirst = (places: string, order: string) => `
  UPDATE {jobs} FORCE INDEX ({jobs}_claim)
  ${MARK}
  WHERE ${OF_QUEUE} AND ${places} AND state = 'waiting'
  ORDER BY ${order}
  LIMIT :limit`;

// Of others' jobs that are active it passes over those that stand between its own.
const taken = (places: string, order: string) => `
  SELECT ${CLAIMED_COLUMNS}
  FROM {jobs} FORCE INDEX ({jobs}_claim)
  WHERE ${OF_QUEUE} AND ${places} AND claim_id = :claimId
  ORDER BY ${order}
  LIMIT :limit`;

const OF_PRIORITY = 'priority = :priority0';

// All columns of the index: an UPDATE would sort by less, and so lock every job of the queue. A SELECT on MariaDB would sort
// by more, and so read every one.
const TAKE_OLDEST = takeFirst(BEYOND_PLACE, 'queue, runnable, run_at, priority, id');
const TAKE_NEWEST = takeFirst(OF_PRIORITY, 'queue DESC, runnable DESC, run_at DESC, priority DESC, id DESC');
const OLDEST_TAKEN = taken(BEYOND_PLACE, 'priority, id');
const NEWEST_TAKEN = taken(OF_PRIORITY, 'id DESC');

/**
 * The token dequeue of the time before SKIP LOCKED: one UPDATE writes the claim's id on the first jobs, which are then read
 * by it. Claims of one queue take turns.
 */
export function* claimByUpdate(request: ClaimRequest): Work<ClaimedJob[]> {
  const { queue, limit, claimId, maxAttempts, order } = request;
  const first = yield* oldest(queue);
  if (!first) return [];
  const values = { queue, limit, claimId, maxAttempts, priority0: first.priority, lastId0: first.id - 1 };
  const [take, read] = order === 'fifo' ? [TAKE_OLDEST, OLDEST_TAKEN] : [TAKE_NEWEST, NEWEST_TAKEN];
  const [, answer] = yield* together([
    { sql: take, values },
    { sql: read, values },
  ]);
  return yield* writeClaim(request, answer!.rows as unknown as readonly ClaimedRow[]);
}
