import type { Dialect } from '../core/sql-database.js';
import type { ExpectedTable } from '../schema/expected-tables.js';
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

export function compareTables(
  dialect: Dialect['name'],
  expected: ExpectedTable,
  actual: ActualTable,
): TableDifferences {
  const facts: string[] = [];
  const missingColumns: string[] = [];
  const changedColumns: string[] = [];
  for (const [name, definition] of expected.columns) {
    const column = actual.columns.get(name);
    const difference = column ? columnDifference(dialect, definition, column) : 'is missing';
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

function columnDifference(
  dialect: Dialect['name'],
  definition: string,
  { type, collation, isNullable, hasDefault, isAutoIncrement }: ActualColumn,
): string | undefined {
  const expectedType = /^\w+(?:\(\d+\))?/.exec(definition)![0].toLowerCase();
  if (type !== expectedType) return `has the type ${type}, expected ${expectedType}`;
  const isText = dialect !== 'sqlite' && /^(?:VARCHAR|CHAR|TEXT|LONGTEXT)\b/.test(definition);
  const expectedCollation = isText ? (/ COLLATE (\w+)/.exec(definition)?.[1] ?? 'utf8mb4_bin') : null;
  if (collation !== expectedCollation) return `has the collation ${collation}, expected ${expectedCollation}`;
  if (isNullable && definition.includes('NOT NULL')) return 'can be NULL, expected NOT NULL';
  if (!isNullable && !definition.includes('NOT NULL')) return 'cannot be NULL, expected NULL';
  if (!isAutoIncrement && /AUTO_?INCREMENT/.test(definition)) return 'does not count, expected AUTO_INCREMENT';
  return !hasDefault && definition.includes('DEFAULT') ? 'has no default' : undefined;
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
