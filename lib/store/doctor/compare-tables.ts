import type { SqlColumn, SqlTable } from '../schema/sql-tables.js';
import type { ActualColumn, ActualTable } from './actual-tables.js';

/** The differences of one table. Names and definitions are those of the expected table. */
export interface TableDifferences {
  readonly facts: readonly string[];
  readonly missingColumns: readonly string[];
  readonly changedColumns: readonly string[];
  readonly hasOtherPrimaryKey: boolean;
  readonly missingIndexes: readonly string[];
  readonly changedIndexes: readonly string[];
  readonly extraColumns: readonly string[];
  /** Extra columns that an INSERT of the library cannot fill. */
  readonly unfilledColumns: readonly string[];
  readonly extraIndexes: readonly string[];
}

export function compareTables(expected: SqlTable, actual: ActualTable): TableDifferences {
  const facts: string[] = [];
  const missingColumns: string[] = [];
  const changedColumns: string[] = [];
  for (const [name, expectedColumn] of expected.columns) {
    const column = actual.columns.get(name);
    const difference = column ? columnDifference(expectedColumn, column) : 'is missing';
    if (difference === undefined) continue;
    (column ? changedColumns : missingColumns).push(name);
    facts.push(`the column ${name} ${difference}`);
  }
  const hasOtherPrimaryKey = !isSameList(actual.primaryKey, expected.primaryKey);
  if (hasOtherPrimaryKey)
    facts.push(`the primary key is ${listed(actual.primaryKey)}, expected ${listed(expected.primaryKey)}`);
  const missingIndexes: string[] = [];
  const changedIndexes: string[] = [];
  for (const [name, columns] of expected.indexes) {
    const index = actual.indexes.get(name);
    if (index && !index.isUnique && isSameList(index.columns, columns)) continue;
    (index ? changedIndexes : missingIndexes).push(name);
    const seen =
      index && `is ${index.isUnique ? 'unique on ' : ''}${listed(index.columns)}, expected ${listed(columns)}`;
    facts.push(`the index ${name} ${seen ?? 'is missing'}`);
  }
  const extraColumns = [...actual.columns.keys()].filter((name) => !expected.columns.has(name));
  const unfilledColumns = extraColumns.filter((name) => isUnfilled(actual.columns.get(name)!));
  for (const name of unfilledColumns) facts.push(`the column ${name} is not of this release and has no default`);
  return {
    ...{ facts, missingColumns, changedColumns, hasOtherPrimaryKey, missingIndexes, changedIndexes },
    ...{ extraColumns, unfilledColumns },
    extraIndexes: [...actual.indexes.keys()].filter((name) => !expected.indexes.has(name)),
  };
}

function columnDifference(expected: SqlColumn, actual: ActualColumn): string | undefined {
  const type = expected.type.toLowerCase();
  if (actual.type !== type) return `has the type ${actual.type}, expected ${type}`;
  if (actual.collation !== expected.collation)
    return `has the collation ${actual.collation}, expected ${expected.collation}`;
  if (actual.isNullable && !expected.isNullable) return 'can be NULL, expected NOT NULL';
  if (!actual.isNullable && expected.isNullable) return 'cannot be NULL, expected NULL';
  if (!actual.isAutoIncrement && expected.isAutoIncrement) return 'does not count, expected AUTO_INCREMENT';
  return !actual.hasDefault && expected.default !== undefined ? 'has no default' : undefined;
}

function isUnfilled({ isNullable, hasDefault, isAutoIncrement }: ActualColumn): boolean {
  return !isNullable && !hasDefault && !isAutoIncrement;
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((one, index) => one === b[index]);
}

function listed(columns: readonly string[]): string {
  return columns.length === 0 ? 'none' : `(${columns.join(', ')})`;
}
