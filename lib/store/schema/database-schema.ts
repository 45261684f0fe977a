import type { Statement } from '../core/statement.js';
import type { TableSchema } from '../tables/columns.js';
import { createArchive, downStatements, MIGRATIONS, upStatements } from './migrations.js';
import { createTable, sqlTable, type SqlTable } from './sql-tables.js';

/** The tables of the library on one kind of database. */
export interface DatabaseSchema {
  /** In order. Every statement may run twice: see MIGRATIONS. */
  migrations(): readonly SchemaMigration[];
  /** The statements that create the table `{archive}`, and do nothing if it exists. */
  createArchive(): readonly string[];
  /** The table in the SQL of the database. */
  table(name: string, schema: TableSchema): SqlTable;
  /** The statements that create the table, without any effect on a table that exists. */
  createTable(table: SqlTable): readonly string[];
}

export interface SchemaMigration {
  readonly version: number;
  readonly up: readonly Statement[];
  readonly down: readonly Statement[];
}

export function schemaOn(dialect: 'mysql' | 'sqlite'): DatabaseSchema {
  return {
    migrations: () =>
      MIGRATIONS.map((migration) => ({
        version: migration.version,
        up: upStatements(migration, dialect),
        down: downStatements(migration, dialect),
      })),
    createArchive: () => createArchive(dialect),
    table: (name, schema) => sqlTable(dialect, name, schema),
    createTable: (table) => createTable(dialect, table),
  };
}
