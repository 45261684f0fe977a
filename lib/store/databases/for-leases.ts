import type { SqlDatabase } from '../core/sql-database.js';
import type { Tables } from '../tables/table-names.js';
import { openMysqlForLeases } from './mysql/open-for-leases.js';
import type { LeaseSettings } from './port/database.js';
import { openSqliteForLeases } from './sqlite/open-for-leases.js';

/** How the thread of the heartbeat opens its connection, by the type of the DataSource. */
type OpenForLeases = (settings: LeaseSettings, tables: Tables) => Promise<SqlDatabase>;

// Apart from the records of the databases, so that the thread loads neither their claims nor their checks.
const BY_TYPE: Readonly<Record<string, OpenForLeases>> = {
  mysql: openMysqlForLeases,
  mariadb: openMysqlForLeases,
  'better-sqlite3': openSqliteForLeases,
};

/** @param settings of a DataSource that `databaseOf` accepts */
export function openForLeases(settings: LeaseSettings, tables: Tables): Promise<SqlDatabase> {
  return BY_TYPE[settings.dataSource.options.type]!(settings, tables);
}
