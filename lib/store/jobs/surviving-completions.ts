import type { Completion } from './completion.js';
import { idsOf, isFinished } from './fence.js';
import { query, type Work } from '../core/statement.js';

const STILL_CLAIMED = `
  SELECT id
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids AND claim_id = :claimId
  ORDER BY id /*! FOR UPDATE */`;

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
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids`;

const LIVE_AND_UNLOCKED = `
  SELECT id
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids /*! FOR UPDATE SKIP LOCKED */`;

/** Returns the completions whose jobs other transactions have locked. Its own locks end with each statement. */
export function* findLocked(completions: readonly Completion[]): Work<Set<Completion>> {
  if (completions.length === 0) return new Set();
  const ids = idsOf(completions);
  const locked = new Set((yield* query<{ id: number }>(LIVE, { ids })).map(({ id }) => Number(id)));
  for (const { id } of yield* query<{ id: number }>(LIVE_AND_UNLOCKED, { ids })) locked.delete(Number(id));
  return new Set(completions.filter(({ job }) => locked.has(job.id)));
}

/** Returns the completions whose jobs no longer belong to the claim. Locks the jobs of the others. */
export function* findMissing(claimId: number, completions: readonly Completion[]): Work<Completion[]> {
  const ids = idsOf(completions);
  const claimed = new Set((yield* query<{ id: number }>(STILL_CLAIMED, { ids, claimId })).map(({ id }) => Number(id)));
  return completions.filter(({ job }) => !claimed.has(job.id));
}

/**
 * Separates lost jobs from jobs that the batch completed in an earlier commit whose answer was lost. A finished job is
 * gone from the table of jobs, and the history shows whose attempt finished it. A returned job has left the claim in
 * both cases. It was returned by this batch if its claim cannot have been rescued. Otherwise the actor is unknown, and
 * the job counts as lost.
 */
export function* findLost(
  missing: ReadonlySet<Completion>,
  mayBeRescued: ReadonlySet<number>,
): Work<ReadonlySet<Completion>> {
  if (missing.size === 0) return missing;
  const ids = Array.from(missing, ({ job }) => job.id);
  const live = new Set((yield* query<{ id: number }>(LIVE_BY_ID, { ids })).map(({ id }) => Number(id)));
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
