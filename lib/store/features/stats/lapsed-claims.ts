import { PROBLEM_LIMITS } from '../../../job/problems/queue-problem.js';
import type { LapsedClaims } from '../../../job/problems/problem-facts.js';
import { statement, type Statement, type StatementResult } from '../../core/statement.js';

// The claims are as few as the workers and the jobs that people have. A worker rescues a lapsed one within seconds.
const LAPSED = `
  SELECT queue, COUNT(*) AS claims, :now - MIN(lease_until) AS lapsed_ms
  FROM {claims}
  WHERE lease_until < :now - ${PROBLEM_LIMITS.silentMs}
  GROUP BY queue
  ORDER BY queue
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
