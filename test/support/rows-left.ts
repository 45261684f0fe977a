import { TABLES, tableNames } from '../../lib/store/tables.js';

/** How many rows there are in which tables, but for those that are empty; of these tables or of all that jobs leave rows in. */
export async function rowsLeft(
  { sql }: { sql<Row>(text: string): Promise<Row[]> },
  ...of: (typeof TABLES)[number][]
): Promise<Record<string, number>> {
  const names = tableNames();
  const lasting = ['queues', 'workers', 'producers', 'schema'];
  const left: Record<string, number> = {};
  for (const table of of.length > 0 ? of : TABLES.filter((each) => !lasting.includes(each))) {
    const [row] = await sql<{ count: number }>(`SELECT COUNT(*) AS count FROM ${names[table]}`);
    if (Number(row!.count) > 0) left[table] = Number(row!.count);
  }
  return left;
}
