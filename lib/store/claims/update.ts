import type { ClaimedJob } from '../../job/job.js';
import { inStartOrder } from '../../job/outcome.js';
import type { ClaimRequest } from '../job-store.js';
import { changesOf } from '../sql/changes.js';
import { CLAIMED_COLUMNS, claimedJob, safeId, type ClaimedRow } from '../sql/claimed-row.js';
import { claimRow, endClaim, listJobs } from '../sql/lease.js';
import { remedyFor } from '../sql/remedy.js';
import { lastTogether, note, query, together, type Work } from '../sql/statement.js';
import { BEYOND_PLACE, oldest, OF_QUEUE, type Place } from './claimable.js';
import { MARK } from './claim-row.js';

// A claim that comes second waits for the first one's UPDATE, and then passes over the jobs it finds active. Begins at the
// first job that waits, so that it does not wait for active ones that others have locked. An UPDATE that reaches the server
// late marks nothing: the claim's row, which it locks, is gone by then, or has lapsed, or lists its jobs already.
const takeFirst = (places: string, order: string) => `
  UPDATE {jobs} FORCE INDEX ({jobs}_claim)
  ${MARK}
  WHERE ${OF_QUEUE} AND ${places} AND state = 'waiting'
    AND :claimId = (
      SELECT id
      FROM {claims} FORCE INDEX (PRIMARY)
      WHERE id = :claimId AND job_ids = '[]' AND lease_until > :now
      LOCK IN SHARE MODE
    )
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
 * by it. Every statement commits by itself, so that no lock on a job outlives the UPDATE. The claim's row is there before: the
 * jobs of a process that dies anywhere in between are found by the claim's id. Claims of one queue take turns.
 *
 * The work may be begun again, and then never sends an UPDATE twice that the server may have done: if its answer was lost, the
 * jobs that it has marked are read. It is sent apart from that read, so that it is known which of the two was refused.
 */
export function markFirst(request: ClaimRequest): () => Work<readonly ClaimedRow[]> {
  const { queue, claimId, maxAttempts, order } = request;
  const [take, read] = order === 'fifo' ? [TAKE_OLDEST, OLDEST_TAKEN] : [TAKE_NEWEST, NEWEST_TAKEN];
  let first: Place | undefined;
  let update: 'unsent' | 'refused' | 'unheard' | 'done' = 'unsent';
  // How many it has marked at most.
  let most = request.limit;
  return function* () {
    first ??= yield* oldest(queue);
    if (!first) return [];
    const values = { queue, claimId, maxAttempts, priority0: first.priority, lastId0: first.id - 1 };
    if (update === 'unsent' || update === 'refused') {
      request.onChoosing?.();
      const row = update === 'unsent' ? [claimRow(request, [])] : [];
      update = 'unheard';
      try {
        const marking = { sql: take, values: { ...values, limit: request.limit } };
        most = (yield* together([...row, marking])).at(-1)!.changed;
      } catch (error) {
        if (remedyFor(error) === 'again') update = 'refused';
        throw error;
      }
      request.onLocked?.();
      update = 'done';
    }
    const rows = most > 0 ? yield* query<ClaimedRow>(read, { ...values, limit: most }) : [];
    // An UPDATE whose answer was lost may still mark jobs: then the claim's row stays, until it has lapsed.
    if (rows.length === 0 && update === 'done') yield* endClaim(claimId);
    // Checked before the jobs are listed: the store removes a job whose id no number can hold, and reads the others again.
    return rows.map((row) => ({ ...row, id: safeId(row.id) }));
  };
}

/** Lists the jobs in the row of their claim. None if that has lapsed meanwhile: another process rescues them. */
export function* listMarked(request: ClaimRequest, marked: readonly ClaimedRow[]): Work<ClaimedJob[]> {
  const jobs = inStartOrder(marked.map((row) => claimedJob(row, request.queue, request.maxAttempts)));
  yield* note(changesOf('claimed', jobs, request.owner));
  const [listed] = yield* lastTogether([listJobs(request, jobs)]);
  return listed!.changed === 1 ? jobs : [];
}
