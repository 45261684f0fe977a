let largest = Infinity;

/**
 * The number of rows that one page, batch or LIMIT of the store has: `rows`, unless a test asked for smaller pages. The
 * limit and the check for a further page must use one value, so a verb calls this once.
 */
export function pageSize(rows: number): number {
  return Math.min(rows, largest);
}

/** For tests: no page of the store has more than `rows` rows, so that four rows are more than one page. */
export function limitPages(rows: number): void {
  largest = rows;
}
