import type { Dialect } from '../core/sql-database.js';
import type { Statement } from '../core/statement.js';
import { archiveTable } from '../tables/job-tables.js';
import { TABLES } from '../tables/table-names.js';
import { TABLE_SCHEMAS } from '../tables/table-schemas.js';
import { createTable, sqlTable } from './sql-tables.js';

type StatementsOn = (dialect: Dialect['name']) => readonly string[];

/** A step from one version of the tables to the next. The names of tables stand in braces. */
export interface Migration {
  readonly version: number;
  /** TypeORM sorts migrations by the time at the end of their names, and remembers the names. */
  readonly name: string;
  readonly up: StatementsOn;
  readonly down: StatementsOn;
}

/**
 * In order. The first one creates the tables of this release; each later one changes those of an earlier release. So new
 * tables have its changes already. MySQL commits after each statement, and a process may die in between. Therefore each
 * statement may run twice: the second time it does nothing, or fails with an error that `isAppliedBefore` knows.
 */
export const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    name: 'CreateSqlQueueTables1790000000001',
    up: (dialect) => TABLES.flatMap((key) => createTable(dialect, sqlTable(dialect, `{${key}}`, TABLE_SCHEMAS[key]))),
    down: () => TABLES.map((key) => `DROP TABLE IF EXISTS {${key}}`),
  },
];

/** The version of the tables of this release. */
export function schemaVersion(): number {
  return MIGRATIONS.at(-1)!.version;
}

const RECORD_VERSION = `
  INSERT INTO {schema} (version, applied_at)
  SELECT :version, :now
  FROM (SELECT 1 AS one) AS one_row
  WHERE NOT EXISTS (SELECT 1 FROM {schema} WHERE version = :version)`;

export function upStatements({ up, version }: Migration, dialect: Dialect['name']): Statement[] {
  return [...up(dialect).map((sql) => ({ sql, values: {} })), { sql: RECORD_VERSION, values: { version } }];
}

/** The first migration removes all tables, the one of the versions included. */
export function downStatements({ down, version }: Migration, dialect: Dialect['name']): Statement[] {
  const forget = { sql: 'DELETE FROM {schema} WHERE version = :version', values: { version } };
  return [...down(dialect).map((sql) => ({ sql, values: {} })), ...(version === 1 ? [] : [forget])];
}

/** The statements that create the archive `{archive}`. */
export function createArchive(dialect: Dialect['name']): string[] {
  return createTable(dialect, sqlTable(dialect, '{archive}', archiveTable));
}
