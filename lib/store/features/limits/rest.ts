/**
 * The end of the rest in a row. A rest of a given length that ends later than its length permits is from before the clock of
 * the database was set back, so it is over.
 */
export function restUntil(row = ''): string {
  return `CASE WHEN ${row}rest_ms > 0 AND ${row}rest_until > :now + ${row}rest_ms + 1000 THEN 0 ELSE ${row}rest_until END`;
}
