import type { TableRow } from '../../tables/table-schemas.js';

/**
 * The end of the rest in a row. A rest of a given length that ends later than its length permits is from before the clock of
 * the database was set back, so it is over.
 */
export function restUntil(row = ''): string {
  return `CASE WHEN ${row}rest_ms > 0 AND ${row}rest_until > :now + ${row}rest_ms + 1000 THEN 0 ELSE ${row}rest_until END`;
}

/** Like `restUntil`, for a row that the transaction has locked, and the time afterwards. */
export function restEndOf(row: Pick<TableRow<'limits'>, 'rest_until' | 'rest_ms'>, nowMs: number): number {
  const [until, ms] = [Number(row.rest_until), Number(row.rest_ms)];
  return ms > 0 && until > nowMs + ms + 1_000 ? 0 : until;
}
