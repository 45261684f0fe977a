import { databaseOf } from './databases/index.js';
import type { Database, UncheckedDatabase, UncheckedSettings } from './databases/port/database.js';
import { tableNames, tablesOn, type Tables } from './tables/table-names.js';

export interface UncheckedStoreSettings extends UncheckedSettings {
  readonly prefix?: string | undefined;
}

export interface UncheckedStore extends UncheckedDatabase, Pick<Database, 'schema' | 'checks'> {
  readonly tables: Tables;
}

/** Opens a database and changes nothing in it, so that problems of the server and of the tables can be reported. */
export async function openUnchecked(settings: UncheckedStoreSettings): Promise<UncheckedStore> {
  const { options } = settings.dataSource;
  const { schema, checks, openUnchecked: open } = databaseOf(options.type);
  const tables = tablesOn(options, tableNames(settings.prefix));
  return { ...(await open(settings, tables)), tables, schema, checks };
}
