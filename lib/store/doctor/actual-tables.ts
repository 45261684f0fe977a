import type { Dialect } from '../core/sql-database.js';
import { query, type Work } from '../core/statement.js';
import type { Tables } from '../tables/table-names.js';

export interface ActualColumn {
  /** In lower case, without the display width of numbers. */
  readonly type: string;
  /** Null on SQLite, and of numbers. */
  readonly collation: string | null;
  readonly isNullable: boolean;
  readonly hasDefault: boolean;
  readonly isAutoIncrement: boolean;
}

export interface ActualIndex {
  readonly columns: string[];
  readonly isUnique: boolean;
}

/** A table of the database. */
export interface ActualTable {
  readonly columns: ReadonlyMap<string, ActualColumn>;
  readonly primaryKey: readonly string[];
  readonly indexes: ReadonlyMap<string, ActualIndex>;
}

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

/** Undefined if SQLite has no such table. A server rejects the statement then, or if the account may not see the table. */
export function readActualTable(dialect: Dialect, key: keyof Tables, tables: Tables): Work<ActualTable | undefined> {
  return dialect.name === 'sqlite' ? readFromSqlite(tables[key]) : readFromServer(key);
}

// SHOW finds the table by the rules of the server for upper and lower case, unlike a condition on information_schema.
function* readFromServer(key: keyof Tables): Work<ActualTable> {
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

function* readFromSqlite(table: string): Work<ActualTable | undefined> {
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

function groupParts(parts: readonly { name: string; part: string; isUnique: boolean }[]): Map<string, ActualIndex> {
  const indexes = new Map<string, ActualIndex>();
  for (const { name, part, isUnique } of parts) {
    if (!indexes.has(name)) indexes.set(name, { columns: [], isUnique });
    indexes.get(name)!.columns.push(part);
  }
  return indexes;
}
