import { query, queryIds, type Work } from '../core/statement.js';
import { CHECK_INTERVAL_MS } from '../rows/expiry.js';

// One statement, so that a job that moves between the tables is found in one of them.
const REMAINING_JOBS = `
  SELECT id
  FROM {history}
  WHERE id IN (:ids)
  UNION ALL
  SELECT id
  FROM {jobs}
  WHERE id IN (:ids)`;

/** Those of the jobs that have a row. A finished one may start anew. */
export function* remainingJobs(ids: readonly number[]): Work<Set<number>> {
  return new Set(ids.length === 0 ? [] : yield* queryIds(REMAINING_JOBS, { ids }));
}

// A job stays after its retention if it cannot be archived.
const NEXT_CHECKS = `
  SELECT id, CASE WHEN expires_at > :now THEN expires_at ELSE :now END + :intervalMs AS at
  FROM {history}
  WHERE id IN (:ids)
  UNION ALL
  SELECT id, :now + :intervalMs AS at
  FROM {jobs}
  WHERE id IN (:ids)`;

/**
 * For each of the jobs that has a row, the time of the next check whether it still has one. That is the interval after its
 * retention, or after now if this is later. `checkSoon` brings the check forward if the job leaves the history before.
 */
export function* nextChecks(ids: readonly number[], intervalMs: number = CHECK_INTERVAL_MS): Work<Map<number, number>> {
  if (ids.length === 0) return new Map();
  const rows = yield* query<{ id: number; at: number }>(NEXT_CHECKS, { ids, intervalMs });
  return new Map(rows.map(({ id, at }) => [Number(id), Math.min(Number(at), Number.MAX_SAFE_INTEGER)]));
}
