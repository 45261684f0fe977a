import type { Dialect } from '../core/sql-database.js';
import { createIndexes, createTable, type SqlColumn, type SqlTable } from '../schema/sql-tables.js';
import type { ActualTable } from './actual-tables.js';
import type { TableDifferences } from './compare-tables.js';

/** The statements that give the table the columns, the primary key and the indexes of this release. */
export function repairTable(
  dialect: Dialect['name'],
  table: SqlTable,
  actual: ActualTable,
  differences: TableDifferences,
): string[] {
  return dialect === 'sqlite'
    ? repairOnSqlite(table, actual, differences)
    : [alterOnServer(table, actual, differences)];
}

export function dropIndex(dialect: Dialect['name'], table: string, index: string): string {
  return dialect === 'sqlite' ? dropOnSqlite(index) : `DROP INDEX ${index} ON ${table};`;
}

/** One statement, because a column that counts needs its key at once. */
function alterOnServer(
  { name, columns, primaryKey, indexes }: SqlTable,
  actual: ActualTable,
  differences: TableDifferences,
): string {
  const { missingColumns, changedColumns, hasOtherPrimaryKey, missingIndexes, changedIndexes } = differences;
  const definitionOf = (column: string) => `${column} ${columns.get(column)!.definition}`;
  const clauses = [
    ...missingColumns.map((column) => `ADD COLUMN ${definitionOf(column)}`),
    ...changedColumns.map((column) => `MODIFY COLUMN ${definitionOf(column)}`),
    ...differences.unfilledColumns.map((column) => `DROP COLUMN ${column}`),
    ...(hasOtherPrimaryKey && actual.primaryKey.length > 0 ? ['DROP PRIMARY KEY'] : []),
    ...(hasOtherPrimaryKey ? [`ADD PRIMARY KEY (${primaryKey.join(', ')})`] : []),
    ...changedIndexes.map((index) => `DROP INDEX ${index}`),
    ...[...missingIndexes, ...changedIndexes].map((index) => `ADD INDEX ${index} (${indexes.get(index)!.join(', ')})`),
  ];
  return `ALTER TABLE ${name}\n  ${clauses.join(',\n  ')};`;
}

function repairOnSqlite(table: SqlTable, actual: ActualTable, differences: TableDifferences): string[] {
  const { missingColumns, changedColumns, hasOtherPrimaryKey, missingIndexes, changedIndexes } = differences;
  const { name, columns } = table;
  const isAddable = missingColumns.every((column) => isAddableOnSqlite(columns.get(column)!));
  if (changedColumns.length > 0 || hasOtherPrimaryKey || !isAddable) return rebuildOnSqlite(table, actual, differences);
  return [
    ...missingColumns.map((column) => `ALTER TABLE ${name} ADD COLUMN ${column} ${columns.get(column)!.definition};`),
    ...differences.unfilledColumns.map((column) => `ALTER TABLE ${name} DROP COLUMN ${column};`),
    ...changedIndexes.map(dropOnSqlite),
    ...createIndexes(table, [...missingIndexes, ...changedIndexes]).map(ended),
  ];
}

/** SQLite adds only columns with a constant default, or without one if they can be NULL. */
function isAddableOnSqlite({ isNullable, isAutoIncrement, default: value }: SqlColumn): boolean {
  return !isAutoIncrement && (value === undefined ? isNullable : !value.startsWith('('));
}

/** Copies the rows into a new table. Rows keep the columns that they have; the others receive an empty value. */
function rebuildOnSqlite(table: SqlTable, actual: ActualTable, { extraColumns }: TableDifferences): string[] {
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
    ...[...table.indexes.keys()].filter((index) => actual.indexes.has(index)).map(dropOnSqlite),
    `ALTER TABLE ${name} RENAME TO ${before};`,
    ...createTable('sqlite', table).map(ended),
    `INSERT INTO ${name} (${[...copied, ...filled.map(([column]) => column)].join(', ')})\n` +
      `  SELECT ${[...copied, ...values].join(', ')} FROM ${before};`,
    // It has the values of columns that the new table lacks.
    ...(extraColumns.length === 0 ? [`DROP TABLE ${before};`] : []),
    'COMMIT;',
  ];
}

function dropOnSqlite(index: string): string {
  return `DROP INDEX ${index};`;
}

function ended(statement: string): string {
  return `${statement};`;
}
