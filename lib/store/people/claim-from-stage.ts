import { randomId } from '../../job/random-id.js';
import type { Assignment, StageClaimRequest } from './consumer-store.js';
import { assignIdleJobs } from './assign.js';
import { toJobBeforeClaim, CLAIMED_COLUMNS, type ClaimedRow } from '../jobs/claimed-row.js';
import { idsOf, withSafeIds } from '../core/safe-id.js';
import { Ids, query, type Work } from '../core/statement.js';

// Reads without locks. The next statement locks each job and checks it again.
const WAITING = `
  SELECT /*! STRAIGHT_JOIN */ s.job_id AS id
  FROM {stages} s /*! FORCE INDEX ({stages}_claim) */
  JOIN {jobs} j /*! FORCE INDEX (PRIMARY) */ ON j.id = s.job_id
  WHERE s.queue = :queue AND s.stage = :stage AND j.claim_id = 0 AND j.state = 'waiting' AND j.runnable = 2
  ORDER BY s.priority, s.job_id
  LIMIT :window`;

const LOCK_WAITING = `
  SELECT ${CLAIMED_COLUMNS}
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids AND claim_id = 0 AND state = 'waiting' AND runnable = 2
  ORDER BY id /*! FOR UPDATE SKIP LOCKED */`;

const STILL_IN_STAGE = `
  SELECT job_id AS id
  FROM {stages}
  WHERE job_id IN (:ids) AND queue = :queue AND stage = :stage`;

// If other transactions have locked the first jobs, the claim reads 8 times as many, and then 64 times as many.
const WINDOW_FACTOR = 8;
const MAX_WINDOW_FACTOR = WINDOW_FACTOR * WINDOW_FACTOR;

export function* claimFromStage(request: StageClaimRequest): Work<Assignment[]> {
  const { queue, stage, limit, maxAttempts } = request;
  const rows = yield* lockFirst(request);
  if (rows.length === 0) return [];
  const jobs = rows.slice(0, limit).map((row) => ({ job: toJobBeforeClaim(row, queue, maxAttempts), to: randomId() }));
  return yield* assignIdleJobs(jobs, request, maxAttempts, stage);
}

function* lockFirst({ queue, stage, limit }: StageClaimRequest): Work<ClaimedRow[]> {
  for (let window = limit; ; window *= WINDOW_FACTOR) {
    const waiting = yield* query<{ id: number }>(WAITING, { queue, stage, window });
    // A job whose id no number can hold must not block the others of its stage.
    const rows = yield* lockStaged(idsOf(withSafeIds(waiting)), queue, stage);
    if (rows.length >= limit || waiting.length < window || window >= limit * MAX_WINDOW_FACTOR) return rows;
  }
}

/** The jobs that no other transaction has locked and that are still in the stage, in the given order. */
function* lockStaged(ids: readonly number[], queue: string, stage: string): Work<ClaimedRow[]> {
  if (ids.length === 0) return [];
  const locked = yield* query<ClaimedRow>(LOCK_WAITING, { ids: new Ids(ids) });
  const staged = yield* query<{ id: number }>(STILL_IN_STAGE, { queue, stage, ids });
  const stagedIds = new Set(idsOf(staged));
  const byId = new Map(locked.map((row) => [Number(row.id), row]));
  return ids.flatMap((id) => (stagedIds.has(id) ? (byId.get(id) ?? []) : []));
}
