import type { SqlValue } from './statement.js';

// Characters, most of them one byte: far below any server's max_allowed_packet.
const MAX_STATEMENT_LENGTH = 500_000;
// SQLite takes some 32,000 values, and no row has more than twenty.
const MOST_ROWS = 1_000;

/** The rows in as many statements as a server accepts them in, in their order. */
export function rowChunks(rows: readonly SqlValue[][]): SqlValue[][][] {
  const chunks: SqlValue[][][] = [];
  let length = 0;
  for (const row of rows) {
    const more = row.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 10), 0);
    const last = chunks.at(-1);
    if (last && last.length < MOST_ROWS && length + more <= MAX_STATEMENT_LENGTH) {
      last.push(row);
      length += more;
    } else {
      chunks.push([row]);
      length = more;
    }
  }
  return chunks;
}
