import { TABLES } from '../tables.js';
import type { Statement } from '../sql/statement.js';
import { TABLES_MYSQL } from './0001-tables-mysql.js';
import { TABLES_SQLITE } from './0001-tables-sqlite.js';

export type DialectName = 'mysql' | 'sqlite';

export interface Migration {
  readonly version: number;
  /** As TypeORM wants it: with a time in milliseconds at its end, by which it sorts. */
  readonly name: string;
  readonly up: Readonly<Record<DialectName, readonly string[]>>;
  readonly down: readonly string[];
}

/** In order. Each statement is harmless when it is run a second time, since MySQL commits after each. */
export const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    name: 'CreateSqlQueueTables1790000000001',
    up: { mysql: TABLES_MYSQL, sqlite: TABLES_SQLITE },
    down: TABLES.map((table) => `DROP TABLE IF EXISTS {${table}}`),
  },
];

/** The version of the tables that this release works with. */
export const SCHEMA_VERSION = MIGRATIONS.at(-1)!.version;

const NOTE = `
  INSERT INTO {schema} (version, applied_at)
  SELECT :version, :now
  FROM (SELECT 1 AS one) AS one_row
  WHERE NOT EXISTS (SELECT 1 FROM {schema} WHERE version = :version)`;

/** What a migration does, and the note that it was done. */
export function upStatements({ up, version }: Migration, dialect: DialectName): Statement[] {
  return [...up[dialect].map((sql) => ({ sql, values: {} })), { sql: NOTE, values: { version } }];
}
