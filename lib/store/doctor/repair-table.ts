import type { Dialect } from '../core/sql-database.js';
import type { ExpectedTable } from '../schema/expected-tables.js';
import type { ActualTable } from './actual-tables.js';
import type { TableDifferences } from './compare-tables.js';

/** The statements that create the table. */
export function createTable(dialect: Dialect['name'], name: string, table: ExpectedTable): string[] {
  const { columns, primaryKey, indexes, options } = table;
  const clauses = Array.from(columns, ([column, definition]) => `${column} ${definition}`);
  if (!clauses.some((clause) => clause.includes('PRIMARY KEY'))) clauses.push(`PRIMARY KEY (${primaryKey.join(', ')})`);
  const isSqlite = dialect === 'sqlite';
  if (!isSqlite) for (const [index, on] of indexes) clauses.push(`KEY ${index} (${on.join(', ')})`);
  const created = `CREATE TABLE ${name} (\n  ${clauses.join(',\n  ')}\n)${options};`;
  return isSqlite ? [created, ...createIndexes(name, table, [...indexes.keys()])] : [created];
}

/** The statements that give the table the columns, the primary key and the indexes of this release. */
export function repairTable(
  dialect: Dialect['name'],
  name: string,
  table: ExpectedTable,
  actual: ActualTable,
  differences: TableDifferences,
): string[] {
  if (dialect !== 'sqlite') return [alterOnServer(name, table, actual, differences)];
  const { missingColumns, changedColumns, hasOtherPrimaryKey, missingIndexes, changedIndexes } = differences;
  const definitions = missingColumns.map((column) => table.columns.get(column)!);
  if (changedColumns.length > 0 || hasOtherPrimaryKey || !definitions.every(isAddableOnSqlite))
    return rebuildOnSqlite(name, table, actual, differences);
  return [
    ...missingColumns.map((column) => `ALTER TABLE ${name} ADD COLUMN ${column} ${table.columns.get(column)};`),
    ...differences.unfilledColumns.map((column) => `ALTER TABLE ${name} DROP COLUMN ${column};`),
    ...changedIndexes.map(dropOnSqlite),
    ...createIndexes(name, table, [...missingIndexes, ...changedIndexes]),
  ];
}

export function dropIndex(dialect: Dialect['name'], table: string, index: string): string {
  return dialect === 'sqlite' ? dropOnSqlite(index) : `DROP INDEX ${index} ON ${table};`;
}

/** One statement, because a column that counts needs its key at once. */
function alterOnServer(
  name: string,
  { columns, primaryKey, indexes }: ExpectedTable,
  actual: ActualTable,
  differences: TableDifferences,
): string {
  const { missingColumns, changedColumns, hasOtherPrimaryKey, missingIndexes, changedIndexes } = differences;
  const clauses = [
    ...missingColumns.map((column) => `ADD COLUMN ${column} ${columns.get(column)}`),
    ...changedColumns.map((column) => `MODIFY COLUMN ${column} ${columns.get(column)}`),
    ...differences.unfilledColumns.map((column) => `DROP COLUMN ${column}`),
    ...(hasOtherPrimaryKey && actual.primaryKey.length > 0 ? ['DROP PRIMARY KEY'] : []),
    ...(hasOtherPrimaryKey ? [`ADD PRIMARY KEY (${primaryKey.join(', ')})`] : []),
    ...changedIndexes.map((index) => `DROP INDEX ${index}`),
    ...[...missingIndexes, ...changedIndexes].map((index) => `ADD INDEX ${index} (${indexes.get(index)!.join(', ')})`),
  ];
  return `ALTER TABLE ${name}\n  ${clauses.join(',\n  ')};`;
}

/** SQLite adds only columns with a constant default, or without one if they can be NULL. */
function isAddableOnSqlite(definition: string): boolean {
  return !/PRIMARY KEY|DEFAULT \(/.test(definition) && (!/NOT NULL/.test(definition) || /DEFAULT/.test(definition));
}

/** Copies the rows into a new table. Rows keep the columns that they have; the others receive an empty value. */
function rebuildOnSqlite(
  name: string,
  table: ExpectedTable,
  actual: ActualTable,
  { extraColumns }: TableDifferences,
): string[] {
  const before = `${name}_before`;
  const copied = [...table.columns].filter(([column]) => actual.columns.has(column)).map(([column]) => column);
  const filled = [...table.columns].filter(
    ([column, definition]) => !actual.columns.has(column) && !/PRIMARY KEY|DEFAULT|(?<!NOT )NULL/.test(definition),
  );
  const values = filled.map(([, definition]) => (/INT/.test(definition) ? '0' : `''`));
  return [
    'BEGIN IMMEDIATE;',
    ...[...table.indexes.keys()].filter((index) => actual.indexes.has(index)).map(dropOnSqlite),
    `ALTER TABLE ${name} RENAME TO ${before};`,
    ...createTable('sqlite', name, table),
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

function createIndexes(name: string, { indexes }: ExpectedTable, created: readonly string[]): string[] {
  return created.map((index) => `CREATE INDEX ${index} ON ${name} (${indexes.get(index)!.join(', ')});`);
}
