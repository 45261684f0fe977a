import { PROBLEM_LIMITS } from '../../../job/problems/queue-problem.js';
import type { LapsedClaims } from '../../../job/problems/problem-facts.js';
import { IS_NOT_RESCUED } from '../../rows/lease.js';
import { statement, type Statement, type StatementResult } from '../../core/statement.js';

const SILENT = `:now - ${PROBLEM_LIMITS.silentMs}`;

// The claims are as few as the workers and the jobs that people have. A worker rescues a lapsed one within seconds.
// - A claim of which a rescue has left a job, which still runs or is locked, has no end of its lease. It counts once its
//   worker is silent.
// - If no worker runs, the next claim of a person rescues the jobs of people and other programs, which are no rows of {workers}.
const LAPSED = `
  SELECT c.queue, COUNT(*) AS claims,
         :now - MIN(CASE WHEN c.${IS_NOT_RESCUED} THEN c.lease_until ELSE w.seen_at END) AS lapsed_ms
  FROM {claims} c LEFT JOIN {workers} w ON w.id = c.worker_id
  WHERE c.lease_until < ${SILENT} AND (c.${IS_NOT_RESCUED} OR w.seen_at < ${SILENT})
    AND (c.owner IS NULL OR w.id IS NOT NULL OR EXISTS (SELECT 1 FROM {workers} alive WHERE alive.seen_at > ${SILENT}))
  GROUP BY c.queue
  ORDER BY c.queue
  LIMIT 20`;

/** Reads the claims of dead processes that no worker rescues. */
export const selectLapsedClaims = (): Statement => statement(LAPSED);

export function toLapsedClaims({ rows }: StatementResult): LapsedClaims[] {
  return rows.map(({ queue, claims, lapsed_ms }) => ({
    queue: String(queue),
    claims: Number(claims),
    lapsedMs: Number(lapsed_ms),
  }));
}
