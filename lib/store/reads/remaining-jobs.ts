import { queryIds, type Work } from '../core/statement.js';

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
