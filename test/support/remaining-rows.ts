import { setTimeout } from 'node:timers/promises';
import { TABLES, tableNames } from '../../lib/store/tables/table-names.js';

// More than ten seconds, because a busy server needs time to notice a broken connection.
const MAX_ROUNDS = 1_000;
const ROUND_INTERVAL_MS = 10;

type SqlReader = { sql<Row>(text: string): Promise<Row[]> };

/** The row counts of tables that are not empty: of the given tables, or of all tables with rows of jobs. */
export async function countRemainingRows(
  { sql }: SqlReader,
  ...of: (typeof TABLES)[number][]
): Promise<Record<string, number>> {
  const names = tableNames();
  const lasting = ['queues', 'workers', 'commit_log', 'schema', 'metrics'];
  const counts: Record<string, number> = {};
  for (const table of of.length > 0 ? of : TABLES.filter((each) => !lasting.includes(each))) {
    const [row] = await sql<{ count: number }>(`SELECT COUNT(*) AS count FROM ${names[table]}`);
    if (Number(row!.count) > 0) counts[table] = Number(row!.count);
  }
  return counts;
}

/**
 * Yields `minRounds` rounds, and more while jobs or claims remain. Rows that a broken connection locks are skipped
 * until the server notices. It ends after a maximum, so that the test can report the remaining rows.
 */
export async function* roundsUntilEmpty(world: SqlReader, minRounds: number): AsyncGenerator<number> {
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    yield round;
    if (round < minRounds) continue;
    if (Object.keys(await countRemainingRows(world, 'jobs', 'claims')).length === 0) return;
    await setTimeout(ROUND_INTERVAL_MS);
  }
}
