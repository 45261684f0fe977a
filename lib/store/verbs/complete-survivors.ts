import type { SqlDatabase } from '../core/sql-database.js';
import { query, queryIds, type Work } from '../core/statement.js';
import { findInLockedGroups } from '../ends/wake-groups.js';
import { honourCancelRequests } from '../rows/cancel-requests.js';
import { endJobs } from '../ends/end-jobs.js';
import { JobsLockedError, type Completion, type CompletionBatch, type CompletionResult } from '../rows/completion.js';
import { groupByClaim, idsCondition, isFinished, writeClaimProgress } from '../rows/fence.js';

const STILL_CLAIMED = `
  SELECT id
  FROM {jobs} {by primary}
  WHERE :ids AND claim_id = :claimId
  ORDER BY id {lock}`;

const LIVE_BY_ID = `
  SELECT id
  FROM {jobs}
  WHERE id IN (:ids)`;

const FINISHED_BY = `
  SELECT id, worker_id, attempt
  FROM {history}
  WHERE id IN (:ids)`;

const LIVE = `
  SELECT id
  FROM {jobs} {by primary}
  WHERE :ids`;

const LIVE_AND_UNLOCKED = `
  SELECT id
  FROM {jobs} {by primary}
  WHERE :ids {lock free}`;

/**
 * Writes the batch after a FenceError: finds the jobs that still belong to their claims, and completes only those. A
 * batch can contain one job twice, under a lost claim and under a valid one.
 */
export function* completeSurvivors(batch: CompletionBatch): Work<CompletionResult> {
  const { completions, cancelled } = yield* honourCancelRequests(batch);
  const lostClaims = yield* writeClaimProgress(batch.claims);
  const missing = new Set<Completion>();
  for (const [claimId, ofClaim] of groupByClaim(batch.completions)) {
    for (const completion of yield* findMissing(claimId, ofClaim)) missing.add(completion);
  }
  yield* endJobs(completions.filter((_, index) => !missing.has(batch.completions[index]!)));
  // If the earlier commit had succeeded, no job would still belong to its claim.
  const mayBeStored = batch.mayHaveCommitted && missing.size === batch.completions.length;
  const lost = mayBeStored ? yield* findLost(missing, batch.mayBeRescued) : missing;
  return {
    lost,
    lostClaims,
    cancelled: new Set([...cancelled].filter((completion) => !missing.has(completion))),
  };
}

/** Rejects with JobsLockedError if other transactions have locked jobs of the batch. */
export async function rejectLocked(
  database: Pick<SqlDatabase, 'runIdempotent'>,
  { completions }: CompletionBatch,
): Promise<void> {
  const locked = await database.runIdempotent(() => findLocked(completions));
  if (locked.size > 0) throw new JobsLockedError(locked);
}

/** Returns the completions whose jobs or groups other transactions have locked. Its own locks end with each statement. */
export function* findLocked(completions: readonly Completion[]): Work<Set<Completion>> {
  if (completions.length === 0) return new Set();
  const ids = idsCondition(completions);
  const locked = new Set(yield* queryIds(LIVE, { ids }));
  for (const { id } of yield* query<{ id: number }>(LIVE_AND_UNLOCKED, { ids })) locked.delete(Number(id));
  const ofLockedJobs = completions.filter(({ job }) => locked.has(job.id));
  return new Set([...ofLockedJobs, ...(yield* findInLockedGroups(completions))]);
}

/** Returns the completions whose jobs no longer belong to the claim. Locks the jobs of the others. */
function* findMissing(claimId: number, completions: readonly Completion[]): Work<Completion[]> {
  const ids = idsCondition(completions);
  const claimed = new Set(yield* queryIds(STILL_CLAIMED, { ids, claimId }));
  return completions.filter(({ job }) => !claimed.has(job.id));
}

/**
 * Separates lost jobs from jobs that the batch completed in an earlier commit whose answer was lost. A finished job is
 * gone from the table of jobs, and the history shows whose attempt finished it. A returned job has left the claim in
 * both cases. It was returned by this batch if its claim cannot have been rescued. Otherwise the actor is unknown, and
 * the job counts as lost.
 */
function* findLost(missing: ReadonlySet<Completion>, mayBeRescued: ReadonlySet<number>): Work<ReadonlySet<Completion>> {
  if (missing.size === 0) return missing;
  const ids = Array.from(missing, ({ job }) => job.id);
  const live = new Set(yield* queryIds(LIVE_BY_ID, { ids }));
  const attempts = yield* query<{ id: number; worker_id: string | null; attempt: number }>(FINISHED_BY, { ids });
  const finished = new Map(attempts.map((attempt) => [Number(attempt.id), attempt]));
  const isFinishedElsewhere = ({ job, workerId }: Completion) => {
    const attempt = finished.get(job.id);
    return attempt !== undefined && (attempt.worker_id !== workerId || Number(attempt.attempt) !== job.attempt);
  };
  const isLost = (one: Completion) =>
    isFinished(one) ? live.has(one.job.id) || isFinishedElsewhere(one) : mayBeRescued.has(one.claimId);
  return new Set([...missing].filter(isLost));
}
