import { batchesOf } from '../../common/lists.js';
import type { SqlDatabase } from './sql-database.js';
import { query, type Values } from './statement.js';
import { ascending } from '../../job/identifiers.js';

// SQLite allows 32,766 values in one statement, and a statement may name each id twice.
const BATCH_SIZE = 5_000;

/** Calls `act` for one batch of the distinct ids after the other, each in ascending order. */
export async function inBatches(
  ids: readonly number[],
  act: (batch: readonly number[]) => Promise<unknown>,
): Promise<void> {
  for (const batch of batchesOf(ascending(ids), BATCH_SIZE)) await act(batch);
}

/**
 * The rows that the statement selects for the distinct `ids`: at most two for each of them, because reused ids can be those
 * of two jobs. A statement can have them as `:limit`.
 */
export async function readInBatches<Row>(
  database: Pick<SqlDatabase, 'runIdempotent'>,
  sql: string,
  ids: readonly number[],
  values?: Values,
): Promise<Row[]> {
  const rows: Row[] = [];
  await inBatches(ids, async (batch) => {
    rows.push(
      ...(await database.runIdempotent(() => query<Row>(sql, { ...values, ids: batch, limit: 2 * batch.length }))),
    );
  });
  return rows;
}
