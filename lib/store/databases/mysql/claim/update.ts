import type { ClaimedJob } from '../../../../job/job.js';
import type { ClaimRequest, ClaimImplementation } from '../../../rows/claim.js';
import {
  CLAIMED_COLUMNS,
  claimedJobs,
  MARK,
  type ClaimedRow,
  insertClaim,
  setClaimJobs,
  transactClaim,
} from '../../../rows/claimed-row.js';
import { safeId } from '../../../../job/identifiers.js';
import { deleteClaim } from '../../../rows/lease.js';
import { classifyError } from '../../../core/classify-error.js';
import { executeFinal, query, executeAll, type Work } from '../../../core/statement.js';
import { findFirstWaiting, OF_QUEUE } from './claimable.js';
import type { QueuePosition } from '../../../rows/claim.js';

// A second claim waits for the UPDATE of the first one and then skips its jobs, which are active. The range starts at
// the first waiting job, so that the UPDATE does not wait for locked active jobs. An UPDATE that reaches the server
// late marks nothing: the row of its claim is deleted, has expired or lists its jobs already.
const updateFirst = (range: string, order: string) => `
  UPDATE {jobs} FORCE INDEX ({jobs}_queue)
  ${MARK}
  WHERE ${OF_QUEUE} AND ${range} AND state = 'waiting'
    AND :claimId = (
      SELECT id
      FROM {claims} FORCE INDEX (PRIMARY)
      WHERE id = :claimId AND job_ids = '[]' AND lease_until > :now
      LOCK IN SHARE MODE
    )
  ORDER BY ${order}
  LIMIT :limit`;

// Skips the active jobs of other claims between its own jobs.
const selectMarked = (range: string, order: string) => `
  SELECT ${CLAIMED_COLUMNS}
  FROM {jobs} FORCE INDEX ({jobs}_queue)
  WHERE ${OF_QUEUE} AND ${range} AND claim_id = :claimId
  ORDER BY ${order}
  LIMIT :limit`;

/** All jobs from a position on, including the position with the id `lastId0 + 1`. */
const FROM_POSITION = '((priority = :priority0 AND id > :lastId0) OR priority > :priority0)';

const OF_PRIORITY = 'priority = :priority0';

// The UPDATE names all columns of the index. With fewer it would sort, and lock every job of the queue. The SELECT
// names fewer, because with all of them MariaDB would sort, and read every job.
const MARK_OLDEST = updateFirst(FROM_POSITION, 'queue, runnable, run_at, group_key, priority, id');
const MARK_NEWEST = updateFirst(
  OF_PRIORITY,
  'queue DESC, runnable DESC, run_at DESC, group_key DESC, priority DESC, id DESC',
);
const OLDEST_MARKED = selectMarked(FROM_POSITION, 'priority, id');
const NEWEST_MARKED = selectMarked(OF_PRIORITY, 'id DESC');

/**
 * Claims without SKIP LOCKED: one UPDATE writes the id of the claim on the first jobs, and a SELECT reads them by that
 * id. Each statement commits on its own, so that no job lock outlives the UPDATE. The row of the claim is written
 * before. If the process dies between the statements, a rescue finds the jobs by the id of the claim. Claims of one
 * queue run one after the other.
 *
 * @param optimistic claims in a transaction of the caller: several transactions could keep neither limits nor turns
 */
export function claimingByUpdate(optimistic: ClaimImplementation): ClaimImplementation {
  return {
    ...optimistic,
    async claimAlone(request, database) {
      const marked = await database.runIdempotent(markFirst(request));
      return marked.length === 0 ? [] : transactClaim(request, database, () => listMarked(request, marked));
    },
  };
}

/**
 * The returned work may run several times, but never repeats an UPDATE that the server may have executed. If the answer
 * of the UPDATE was lost, the work reads the marked jobs. UPDATE and SELECT are separate steps, so that an error has a
 * known origin.
 */
function markFirst(request: ClaimRequest): () => Work<readonly ClaimedRow[]> {
  const { queue, claimId, maxAttempts, order } = request;
  const [mark, read] = order === 'fifo' ? [MARK_OLDEST, OLDEST_MARKED] : [MARK_NEWEST, NEWEST_MARKED];
  let first: QueuePosition | undefined;
  let update: 'unsent' | 'refused' | 'unknown' | 'done' = 'unsent';
  // The limit until the UPDATE has returned its count.
  let maxMarked = request.limit;
  return function* () {
    first ??= yield* findFirstWaiting(queue);
    if (!first) return [];
    const values = { queue, claimId, maxAttempts, priority0: first.priority, lastId0: first.id - 1 };
    if (update === 'unsent' || update === 'refused') {
      request.onChoosing?.();
      const row = update === 'unsent' ? [insertClaim(request, [])] : [];
      update = 'unknown';
      try {
        const marking = { sql: mark, values: { ...values, limit: request.limit } };
        maxMarked = (yield* executeAll([...row, marking])).at(-1)!.affectedRows;
      } catch (error) {
        if (classifyError(error) === 'again') update = 'refused';
        throw error;
      }
      request.onLocked?.(maxMarked);
      update = 'done';
    }
    const rows = maxMarked > 0 ? yield* query<ClaimedRow>(read, { ...values, limit: maxMarked }) : [];
    // An UPDATE without an answer may still mark jobs, so the row of its claim stays until the lease expires.
    if (rows.length === 0 && update === 'done') yield* deleteClaim(claimId);
    // Checks the ids before the claim lists them. The store then removes a job with an unsafe id and reads the others
    // again.
    return rows.map((row) => ({ ...row, id: safeId(row.id) }));
  };
}

/** Returns no jobs if the lease of the claim has expired, because another process rescues them. */
function* listMarked(request: ClaimRequest, marked: readonly ClaimedRow[]): Work<ClaimedJob[]> {
  const jobs = yield* claimedJobs(request, marked);
  const [listed] = yield* executeFinal([setClaimJobs(request, jobs)]);
  return listed!.affectedRows === 1 ? jobs : [];
}
