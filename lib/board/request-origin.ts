import { foreignOriginProblem, headerOf, originProblem } from '../dashboard/request-origin.js';
import { Refusal } from '../dashboard/error-status.js';
import type { BoardRequest } from './board-options.js';

/**
 * Refuses requests that a page of another origin sends. Forms cannot set the header of writes, and scripts can only with a
 * permission (CORS) that an application may give to every origin. So the origin is checked as well.
 */
export function checkWriteOrigin({ headers }: BoardRequest, origins: readonly string[]): void {
  if (headerOf(headers, 'x-sql-queue') !== '1') throw refusal('expected the header x-sql-queue: 1');
  const site = headerOf(headers, 'sec-fetch-site');
  if (site !== undefined) {
    if (site !== 'same-origin') throw refusal(`expected Sec-Fetch-Site: same-origin, got ${site}`);
    return;
  }
  const problem = originProblem(headers, origins);
  if (problem !== undefined) throw refusal(problem);
}

/** Other sites must not read the board through a CORS permission either. */
export function checkReadOrigin({ headers }: BoardRequest, origins: readonly string[]): void {
  const problem = foreignOriginProblem(headers, origins);
  if (problem !== undefined) throw refusal(problem);
}

function refusal(problem: string): Refusal {
  return new Refusal(`The board takes requests of its own page only: ${problem}.`, 403, 'CROSS_SITE');
}
