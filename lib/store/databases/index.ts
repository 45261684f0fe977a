import type { DataSourceOptions } from 'typeorm';
import { UnsupportedDatabaseError } from '../../job/errors.js';
import { orList } from '../../common/message-text.js';
import { MYSQL_CHECKS } from './mysql/checks/mysql-doctor.js';
import { MYSQL_CONNECTION } from './mysql/mysql-options.js';
import { mysqlSchema, openMysql, openMysqlUnchecked } from './mysql/open-mysql.js';
import { mysql } from './mysql/mysql.js';
import type { Database } from './port/database.js';
import { SQLITE_CHECKS } from './sqlite/checks/sqlite-doctor.js';
import { openSqlite, openSqliteUnchecked, sqliteSchema } from './sqlite/open-sqlite.js';
import { SQLITE_CONNECTION } from './sqlite/sqlite-connection.js';
import { sqlite } from './sqlite/sqlite.js';

const DATABASES: readonly Database[] = [
  {
    // A DataSource of either type can reach both servers.
    types: ['mysql', 'mariadb'],
    dialect: mysql,
    schema: mysqlSchema,
    connection: MYSQL_CONNECTION,
    checks: MYSQL_CHECKS,
    hasWorkerLocks: true,
    open: openMysql,
    openUnchecked: openMysqlUnchecked,
  },
  {
    types: ['better-sqlite3'],
    dialect: sqlite,
    schema: sqliteSchema,
    connection: SQLITE_CONNECTION,
    checks: SQLITE_CHECKS,
    hasWorkerLocks: false,
    open: openSqlite,
    openUnchecked: openSqliteUnchecked,
  },
];

/** The type of the file that the queue uses without a DataSource. */
export const EMBEDDED_TYPE = 'better-sqlite3';

/** The types of a DataSource that the queue supports. */
export const DATABASE_TYPES: readonly string[] = DATABASES.flatMap(({ types }) => types);

const ON_POSTGRES = 'On PostgreSQL, pg-boss and graphile-worker are the queues to choose. ';
const FOR_FILE = `For a SQLite file write type: 'better-sqlite3' and install better-sqlite3. `;
const ALTERNATIVES = new Map<string, string>([
  ['postgres', ON_POSTGRES],
  ['cockroachdb', ON_POSTGRES],
  ['sqlite', FOR_FILE],
  ['sqljs', FOR_FILE],
]);

/**
 * The record of the database with this type of a DataSource. Call it before connecting: the driver of another type may be
 * missing.
 *
 * @throws UnsupportedDatabaseError for all other types
 */
export function databaseOf(type: string): Database {
  const found = findDatabase(type);
  if (found) return found;
  throw new UnsupportedDatabaseError(
    `Expected a DataSource of type ${orList(DATABASE_TYPES)}, got ${type}. ${ALTERNATIVES.get(type) ?? ''}To keep the application on ${type}, ` +
      `give the queue a database of its own: SqlQueueModule.forRoot({ connection: { type: 'mysql', url: … } }).`,
  );
}

export function findDatabase(type: string): Database | undefined {
  return DATABASES.find(({ types }) => types.includes(type as DataSourceOptions['type']));
}
