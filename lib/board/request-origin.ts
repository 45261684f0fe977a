import { BoardRefusal } from './board-refusal.js';
import type { BoardRequest } from './board-options.js';

/**
 * Refuses requests that a page of another origin sends. Forms cannot set the header of writes, and scripts can only with a
 * permission (CORS) that an application may give to every origin. So the origin is checked as well.
 */
export function checkWriteOrigin(request: BoardRequest, origins: readonly string[]): void {
  if (headerOf(request, 'x-sql-queue') !== '1') throw refusal('expected the header x-sql-queue: 1');
  const site = headerOf(request, 'sec-fetch-site');
  if (site !== undefined) {
    if (site !== 'same-origin') throw refusal(`expected Sec-Fetch-Site: same-origin, got ${site}`);
    return;
  }
  if (!isSameOrigin(request, origins)) throw refusal('expected an Origin with the host of the request');
}

/** Other sites must not read the board through a CORS permission either. */
export function checkReadOrigin(request: BoardRequest, origins: readonly string[]): void {
  const site = headerOf(request, 'sec-fetch-site');
  if (site !== undefined && site !== 'same-origin' && site !== 'none') {
    throw refusal(`expected Sec-Fetch-Site: same-origin, got ${site}`);
  }
  if (site === undefined && headerOf(request, 'origin') !== undefined && !isSameOrigin(request, origins)) {
    throw refusal('expected an Origin with the host of the request');
  }
}

function isSameOrigin(request: BoardRequest, origins: readonly string[]): boolean {
  const origin = headerOf(request, 'origin');
  if (origin === undefined || !URL.canParse(origin)) return false;
  return origins.includes(origin) || new URL(origin).host === headerOf(request, 'host');
}

function headerOf({ headers }: BoardRequest, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join() : value;
}

function refusal(problem: string): BoardRefusal {
  return new BoardRefusal(403, 'CROSS_SITE', `The board takes requests of its own page only: ${problem}.`);
}
