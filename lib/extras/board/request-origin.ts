import { foreignOriginProblem, headerOf } from '../dashboard/request-origin.js';
import { Refusal } from '../dashboard/error-status.js';
import type { BoardRequest } from './board-options.js';

/**
 * Refuses requests that a page of another origin sends. Forms cannot set the header of writes, and scripts can only with a
 * permission (CORS) that an application may give to every origin. So the origin is checked as well, also that of reads.
 */
export function checkOrigin(kind: 'read' | 'write', { headers }: BoardRequest, origins: readonly string[]): void {
  const hasHeader = headerOf(headers, 'x-sql-queue') === '1';
  if (kind === 'write' && !hasHeader) throw refusal('expected the header x-sql-queue: 1');
  const problem = foreignOriginProblem(kind, headers, origins);
  if (problem !== undefined) throw refusal(problem);
}

function refusal(problem: string): Refusal {
  return new Refusal(`The board takes requests of its own page only: ${problem}.`, 403, 'CROSS_SITE');
}
