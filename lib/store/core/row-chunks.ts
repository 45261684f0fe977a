import type { SqlValue } from './statement.js';

// Characters, most of them of one byte: far below the default max_allowed_packet.
const MAX_STATEMENT_LENGTH = 500_000;
// SQLite accepts about 32,000 values per statement, and no row has more than twenty.
const MAX_ROWS = 1_000;

/** Splits rows into chunks that a server accepts in one statement. Keeps their order. */
export function rowChunks(rows: readonly SqlValue[][]): SqlValue[][][] {
  const chunks: SqlValue[][][] = [];
  let length = 0;
  for (const row of rows) {
    const rowLength = lengthOf(row);
    const last = chunks.at(-1);
    if (last && last.length < MAX_ROWS && length + rowLength <= MAX_STATEMENT_LENGTH) {
      last.push(row);
      length += rowLength;
    } else {
      chunks.push([row]);
      length = rowLength;
    }
  }
  return chunks;
}

/** The approximate length of the values in a statement. */
export function lengthOf(values: readonly SqlValue[]): number {
  return values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 10), 0);
}
