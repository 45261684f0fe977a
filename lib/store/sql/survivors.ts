import type { Settlement } from '../job-store.js';
import { idsOf, isFinished } from './fence.js';
import { query, type Work } from './statement.js';

const STILL_OURS = `
  SELECT id
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids AND claim_id = :claimId
  ORDER BY id /*! FOR UPDATE */`;

const STILL_THERE = `
  SELECT id
  FROM {jobs}
  WHERE id IN (:ids)`;

const FINISHED_BY = `
  SELECT id, worker_id, attempt
  FROM {history}
  WHERE id IN (:ids)`;

const THERE = `
  SELECT id
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids`;

const THERE_AND_FREE = `
  SELECT id
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids /*! FOR UPDATE SKIP LOCKED */`;

/** Those whose jobs another transaction has locked. What is locked here is free again with the next statement. */
export function* lockedOut(settlements: readonly Settlement[]): Work<Set<Settlement>> {
  if (settlements.length === 0) return new Set();
  const ids = idsOf(settlements);
  const there = new Set((yield* query<{ id: number }>(THERE, { ids })).map(({ id }) => Number(id)));
  for (const { id } of yield* query<{ id: number }>(THERE_AND_FREE, { ids })) there.delete(Number(id));
  return new Set(settlements.filter(({ job }) => there.has(job.id)));
}

/** Those of the claim's jobs that are not ours any more. Locks the others. */
export function* findMissing(claimId: number, settlements: readonly Settlement[]): Work<Settlement[]> {
  const ids = idsOf(settlements);
  const ours = new Set((yield* query<{ id: number }>(STILL_OURS, { ids, claimId })).map(({ id }) => Number(id)));
  return settlements.filter(({ job }) => !ours.has(job.id));
}

/**
 * After a commit whose answer was lost: which of the missing jobs are truly lost, and which this flush had settled
 * already. A finished job is gone from the table, and where a history is kept it says whose run it was: another worker may
 * have finished the job meanwhile. A returned one has left our claim either way: by our hand, while nobody can have
 * taken it; otherwise nobody can say by whose, and then it does not count as ours.
 */
export function* trulyLost(
  missing: ReadonlySet<Settlement>,
  mayBeTaken: ReadonlySet<number>,
): Work<ReadonlySet<Settlement>> {
  if (missing.size === 0) return missing;
  const ids = Array.from(missing, ({ job }) => job.id);
  const rows = yield* query<{ id: number }>(STILL_THERE, { ids });
  const there = new Set(rows.map(({ id }) => Number(id)));
  const runs = yield* query<{ id: number; worker_id: string | null; attempt: number }>(FINISHED_BY, { ids });
  const finished = new Map(runs.map((run) => [Number(run.id), run]));
  const isOthers = ({ job, workerId }: Settlement) => {
    const run = finished.get(job.id);
    return run !== undefined && (run.worker_id !== workerId || Number(run.attempt) !== job.attempt);
  };
  const isLost = (one: Settlement) =>
    isFinished(one) ? there.has(one.job.id) || isOthers(one) : mayBeTaken.has(one.claimId);
  return new Set([...missing].filter(isLost));
}
