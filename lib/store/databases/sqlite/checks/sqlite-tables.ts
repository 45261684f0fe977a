import { query, type Work } from '../../../core/statement.js';
import { groupParts, type ActualColumn, type ActualTable } from '../../../doctor/actual-tables.js';
import type { TableDifferences } from '../../../doctor/compare-tables.js';
import type { TableTools } from '../../../doctor/table-tools.js';
import { createIndexes, createTable, type SqlColumn, type SqlTable } from '../../../schema/sql-tables.js';

interface SqliteColumn {
  readonly name: string;
  readonly type: string;
  readonly not_null: number;
  readonly has_default: number;
  readonly pk: number;
}

const SQLITE_COLUMNS = `
  SELECT name, type, "notnull" AS not_null, dflt_value IS NOT NULL AS has_default, pk
  FROM pragma_table_info(:table)`;

const SQLITE_INDEXES = `
  SELECT i.name AS name, i."unique" AS is_unique, c.name AS part
  FROM pragma_index_list(:table) AS i, pragma_index_info(i.name) AS c
  WHERE i.origin = 'c'
  ORDER BY i.name, c.seqno`;

const SQLITE_SOURCE = `SELECT sql FROM sqlite_master WHERE type = 'table' AND name = :table`;

export const SQLITE_TABLES: TableTools = {
  read: (key, tables) => readTable(tables[key]),
  repair: repairTable,
  dropIndex: (_, index) => dropIndex(index),
};

function* readTable(table: string): Work<ActualTable | undefined> {
  const columns = yield* query<SqliteColumn>(SQLITE_COLUMNS, { table });
  if (columns.length === 0) return undefined;
  const parts = yield* query<{ name: string; is_unique: number; part: string | null }>(SQLITE_INDEXES, { table });
  const [source] = yield* query<{ sql: string }>(SQLITE_SOURCE, { table });
  const isAutoIncrement = /AUTOINCREMENT/i.test(source?.sql ?? '');
  return {
    columns: new Map(columns.map((column) => [column.name, sqliteColumn(column, isAutoIncrement)])),
    primaryKey: columns
      .filter(({ pk }) => Number(pk) > 0)
      .sort((a, b) => Number(a.pk) - Number(b.pk))
      .map(({ name }) => name),
    indexes: groupParts(
      parts.map(({ name, is_unique, part }) => ({
        ...{ name, part: part ?? '(an expression)', isUnique: Number(is_unique) === 1 },
      })),
    ),
  };
}

function sqliteColumn({ type, not_null, has_default, pk }: SqliteColumn, isAutoIncrement: boolean): ActualColumn {
  return {
    type: type.toLowerCase(),
    collation: null,
    isNullable: Number(not_null) === 0,
    hasDefault: Number(has_default) === 1,
    isAutoIncrement: isAutoIncrement && Number(pk) > 0,
  };
}

function repairTable(table: SqlTable, actual: ActualTable, differences: TableDifferences): string[] {
  const { missingColumns, changedColumns, hasOtherPrimaryKey, missingIndexes, changedIndexes } = differences;
  const { name, columns } = table;
  const isAddable = missingColumns.every((column) => canBeAdded(columns.get(column)!));
  if (changedColumns.length > 0 || hasOtherPrimaryKey || !isAddable) return rebuild(table, actual, differences);
  return [
    ...missingColumns.map((column) => `ALTER TABLE ${name} ADD COLUMN ${column} ${columns.get(column)!.definition};`),
    ...differences.unfilledColumns.map((column) => `ALTER TABLE ${name} DROP COLUMN ${column};`),
    ...changedIndexes.map(dropIndex),
    ...createIndexes(table, [...missingIndexes, ...changedIndexes]).map(ended),
  ];
}

/** SQLite adds only columns with a constant default, or without one if they can be NULL. */
function canBeAdded({ isNullable, isAutoIncrement, default: value }: SqlColumn): boolean {
  return !isAutoIncrement && (value === undefined ? isNullable : !value.startsWith('('));
}

/** Copies the rows into a new table. Rows keep the columns that they have; the others receive an empty value. */
function rebuild(table: SqlTable, actual: ActualTable, { extraColumns }: TableDifferences): string[] {
  const { name } = table;
  const before = `${name}_before`;
  const copied = [...table.columns.keys()].filter((column) => actual.columns.has(column));
  const filled = [...table.columns].filter(
    ([column, { isNullable, isAutoIncrement, default: value }]) =>
      !actual.columns.has(column) && !isNullable && !isAutoIncrement && value === undefined,
  );
  const values = filled.map(([, { type }]) => (type.includes('INT') ? '0' : `''`));
  return [
    'BEGIN IMMEDIATE;',
    ...[...table.indexes.keys()].filter((index) => actual.indexes.has(index)).map(dropIndex),
    `ALTER TABLE ${name} RENAME TO ${before};`,
    ...createTable('sqlite', table).map(ended),
    `INSERT INTO ${name} (${[...copied, ...filled.map(([column]) => column)].join(', ')})\n` +
      `  SELECT ${[...copied, ...values].join(', ')} FROM ${before};`,
    // It has the values of columns that the new table lacks.
    ...(extraColumns.length === 0 ? [`DROP TABLE ${before};`] : []),
    'COMMIT;',
  ];
}

function dropIndex(index: string): string {
  return `DROP INDEX ${index};`;
}

function ended(statement: string): string {
  return `${statement};`;
}
