import { setTimeout } from 'node:timers/promises';
import { TABLES, tableNames } from '../../lib/store/tables.js';

// Ten seconds and more: a busy server takes its time to notice that a connection has gone.
const MOST_ROUNDS = 1_000;
const BETWEEN_ROUNDS_MS = 10;

type Reading = { sql<Row>(text: string): Promise<Row[]> };

/** How many rows there are in which tables, but for those that are empty; of these tables or of all that jobs leave rows in. */
export async function rowsLeft({ sql }: Reading, ...of: (typeof TABLES)[number][]): Promise<Record<string, number>> {
  const names = tableNames();
  const lasting = ['queues', 'workers', 'producers', 'schema'];
  const left: Record<string, number> = {};
  for (const table of of.length > 0 ? of : TABLES.filter((each) => !lasting.includes(each))) {
    const [row] = await sql<{ count: number }>(`SELECT COUNT(*) AS count FROM ${names[table]}`);
    if (Number(row!.count) > 0) left[table] = Number(row!.count);
  }
  return left;
}

/**
 * So many rounds, and then more while there are jobs or claims: what a connection that went away had locked is passed over until
 * the server has noticed. Ends also where some stay, for the test to say which.
 */
export async function* roundsUntilEmpty(world: Reading, fewest: number): AsyncGenerator<number> {
  for (let round = 1; round <= MOST_ROUNDS; round++) {
    yield round;
    if (round < fewest) continue;
    if (Object.keys(await rowsLeft(world, 'jobs', 'claims')).length === 0) return;
    await setTimeout(BETWEEN_ROUNDS_MS);
  }
}
