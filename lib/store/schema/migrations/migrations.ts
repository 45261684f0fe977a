import { TABLES } from '../../tables.js';
import type { Statement } from '../../core/statement.js';
import { TABLES_MYSQL } from './0001-tables-mysql.js';
import { TABLES_SQLITE } from './0001-tables-sqlite.js';

/** MariaDB has the schema of MySQL. */
export type SchemaDialect = 'mysql' | 'sqlite';

export interface Migration {
  readonly version: number;
  /** Ends with a time in milliseconds, by which TypeORM sorts migrations. */
  readonly name: string;
  readonly up: Readonly<Record<SchemaDialect, readonly string[]>>;
  readonly down: readonly string[];
}

/** In order. Every statement may run twice, because MySQL commits after each one. */
export const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    name: 'CreateSqlQueueTables1790000000001',
    up: { mysql: TABLES_MYSQL, sqlite: TABLES_SQLITE },
    down: TABLES.map((table) => `DROP TABLE IF EXISTS {${table}}`),
  },
];

export const SCHEMA_VERSION = MIGRATIONS.at(-1)!.version;

const RECORD_VERSION = `
  INSERT INTO {schema} (version, applied_at)
  SELECT :version, :now
  FROM (SELECT 1 AS one) AS one_row
  WHERE NOT EXISTS (SELECT 1 FROM {schema} WHERE version = :version)`;

export function upStatements({ up, version }: Migration, dialect: SchemaDialect): Statement[] {
  return [...up[dialect].map((sql) => ({ sql, values: {} })), { sql: RECORD_VERSION, values: { version } }];
}
