import { query, type Work } from '../../../core/statement.js';
import { groupParts, type ActualColumn, type ActualTable } from '../../../doctor/actual-tables.js';
import type { TableDifferences } from '../../../doctor/compare-tables.js';
import type { TableTools } from '../../../doctor/table-tools.js';
import type { SqlTable } from '../../../schema/sql-tables.js';
import type { Tables } from '../../../tables/table-names.js';

interface ServerColumn {
  readonly Field: string;
  readonly Type: string;
  readonly Collation: string | null;
  readonly Null: 'YES' | 'NO';
  readonly Default: string | null;
  readonly Extra: string;
}

interface ServerIndexPart {
  readonly Key_name: string;
  readonly Non_unique: number | string;
  /** Null for an expression. */
  readonly Column_name: string | null;
  readonly Sub_part: number | string | null;
  readonly Collation: string | null;
}

export const MYSQL_TABLES: TableTools = {
  read: readTable,
  repair: (table, actual, differences) => [alterTable(table, actual, differences)],
  dropIndex: (table, index) => `DROP INDEX ${index} ON ${table};`,
};

// SHOW finds the table by the rules of the server for upper and lower case, unlike a condition on information_schema.
function* readTable(key: keyof Tables): Work<ActualTable> {
  const columns = yield* query<ServerColumn>(`SHOW FULL COLUMNS FROM {${key}}`);
  const parts = yield* query<ServerIndexPart>(`SHOW INDEX FROM {${key}}`);
  const indexes = groupParts(
    parts.map((part) => ({ name: part.Key_name, part: partOf(part), isUnique: Number(part.Non_unique) === 0 })),
  );
  const primaryKey = indexes.get('PRIMARY')?.columns ?? [];
  indexes.delete('PRIMARY');
  return { columns: new Map(columns.map((column) => [column.Field, serverColumn(column)])), primaryKey, indexes };
}

function serverColumn({ Type, Collation, Null, Default, Extra }: ServerColumn): ActualColumn {
  return {
    type: Type.toLowerCase().replace(/(int)\(\d+\)/, '$1'),
    collation: Collation,
    isNullable: Null === 'YES',
    hasDefault: Default !== null,
    isAutoIncrement: Extra.includes('auto_increment'),
  };
}

/** An index of a part of the column, or in descending order, does not serve the statements of the library. */
function partOf({ Column_name: name, Sub_part: length, Collation: order }: ServerIndexPart): string {
  return `${name ?? '(an expression)'}${length === null ? '' : `(${length})`}${order === 'D' ? ' DESC' : ''}`;
}

/** One statement, because a column that counts needs its key at once. */
function alterTable(
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
