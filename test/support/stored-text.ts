import { tableNames } from '../../lib/store/tables/table-names.js';
import type { World } from './engines.js';

/** The columns, as `table.column`, of all tables of the library that contain one of the texts. */
export async function columnsWith(
  world: Pick<World, 'sql'>,
  texts: readonly string[],
  moreTables: readonly string[] = [],
): Promise<string[]> {
  const found = new Set<string>();
  for (const table of [...Object.values(tableNames()), ...moreTables]) {
    for (const row of await world.sql<Record<string, unknown>>(`SELECT * FROM ${table}`)) {
      for (const [column, value] of Object.entries(row)) {
        const stored = Buffer.isBuffer(value) ? value.toString('latin1') : String(value);
        if (texts.some((text) => stored.includes(text))) found.add(`${table.replace('sql_queue_', '')}.${column}`);
      }
    }
  }
  return [...found].sort();
}
