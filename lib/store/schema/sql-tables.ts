import type { Dialect } from '../core/sql-database.js';
import type { Column, ColumnKind, SqlPerDatabase, TableSchema } from '../tables/columns.js';

/** A column in the SQL of one database. */
export interface SqlColumn {
  /** Such as `VARCHAR(100)`. */
  readonly type: string;
  /** Null for numbers, and on SQLite. */
  readonly collation: string | null;
  readonly isNullable: boolean;
  /** Undefined: none. */
  readonly default: string | undefined;
  readonly isAutoIncrement: boolean;
  /** All of it after the name. */
  readonly definition: string;
}

/** A table in the SQL of one database. Columns and indexes stand by their names, in order. */
export interface SqlTable {
  readonly name: string;
  readonly columns: ReadonlyMap<string, SqlColumn>;
  readonly primaryKey: readonly string[];
  readonly indexes: ReadonlyMap<string, readonly string[]>;
}

/** How a database writes the tables. */
interface Syntax {
  readonly name: keyof SqlPerDatabase;
  readonly types: Readonly<Record<ColumnKind, (length: number) => string>>;
  readonly hasCollations: boolean;
  readonly autoIncrement: { readonly type: string; readonly definition: string };
  /** Whether CREATE TABLE has the indexes. */
  readonly hasInnerIndexes: boolean;
  /** After the list of columns. */
  readonly options: string;
}

const numbers = { bigint: () => 'BIGINT', int: () => 'INT', smallint: () => 'SMALLINT', tinyint: () => 'TINYINT' };
const varchar = (length: number) => `VARCHAR(${length})`;
const char = (length: number) => `CHAR(${length})`;

const MYSQL: Syntax = {
  name: 'mysql',
  types: {
    ...numbers,
    word: varchar,
    fixedWord: char,
    label: varchar,
    text: () => 'LONGTEXT',
    shortText: () => 'TEXT',
  },
  hasCollations: true,
  autoIncrement: { type: 'BIGINT', definition: 'BIGINT NOT NULL AUTO_INCREMENT' },
  hasInnerIndexes: true,
  // With another row format, a server may have shorter keys than the indexes need.
  options: ' ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin',
};

const SQLITE: Syntax = {
  name: 'sqlite',
  types: {
    ...numbers,
    word: varchar,
    fixedWord: varchar,
    label: varchar,
    text: () => 'TEXT',
    shortText: () => 'TEXT',
  },
  hasCollations: false,
  // Without AUTOINCREMENT, SQLite would reuse the id of a deleted job, which would collide in the history.
  autoIncrement: { type: 'INTEGER', definition: 'INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL' },
  hasInnerIndexes: false,
  options: '',
};

/** MariaDB has the tables of MySQL. */
const SYNTAX: Readonly<Record<Dialect['name'], Syntax>> = { mysql: MYSQL, mariadb: MYSQL, sqlite: SQLITE };

export function sqlTable(dialect: Dialect['name'], name: string, { columns, indexes = {} }: TableSchema): SqlTable {
  const all = Object.values(columns);
  return {
    name,
    columns: new Map(all.map((column) => [column.name, sqlColumn(dialect, column)])),
    primaryKey: all.filter(({ primary }) => primary).map((column) => column.name),
    indexes: new Map(
      Object.entries(indexes).map(([index, on]) => [`${name}_${index}`, on.map((key) => columns[key]!.name)]),
    ),
  };
}

/** The statements that create the table, without any effect on a table that exists. */
export function createTable(dialect: Dialect['name'], table: SqlTable): string[] {
  const { hasInnerIndexes, options } = SYNTAX[dialect];
  const clauses = Array.from(table.columns, ([name, { definition }]) => `${name} ${definition}`);
  if (!clauses.some((clause) => clause.includes('PRIMARY KEY')))
    clauses.push(`PRIMARY KEY (${table.primaryKey.join(', ')})`);
  if (hasInnerIndexes) for (const [index, on] of table.indexes) clauses.push(`KEY ${index} (${on.join(', ')})`);
  const created = `CREATE TABLE IF NOT EXISTS ${table.name} (\n  ${clauses.join(',\n  ')}\n)${options}`;
  return hasInnerIndexes ? [created] : [created, ...createIndexes(table)];
}

export function createIndexes({ name, indexes }: SqlTable, created: Iterable<string> = indexes.keys()): string[] {
  return Array.from(
    created,
    (index) => `CREATE INDEX IF NOT EXISTS ${index} ON ${name} (${indexes.get(index)!.join(', ')})`,
  );
}

function sqlColumn(dialect: Dialect['name'], column: Column<unknown>): SqlColumn {
  const { types, hasCollations, autoIncrement } = SYNTAX[dialect];
  const { kind, length = 0, nullable: isNullable = false } = column;
  if (column.generated)
    return { ...autoIncrement, collation: null, isNullable, default: undefined, isAutoIncrement: true };
  const type = types[kind](length);
  const collation = hasCollations ? collationOf(kind) : null;
  const value = defaultOf(dialect, column);
  const definition = [
    type,
    ...(collation === null ? [] : [`CHARACTER SET ${collation.split('_')[0]} COLLATE ${collation}`]),
    isNullable ? 'NULL' : 'NOT NULL',
    ...(value === undefined ? [] : [`DEFAULT ${value}`]),
  ].join(' ');
  return { type, collation, isNullable, default: value, isAutoIncrement: false, definition };
}

function collationOf(kind: ColumnKind): string | null {
  if (kind === 'word' || kind === 'fixedWord') return 'ascii_bin';
  return kind === 'label' || kind === 'text' || kind === 'shortText' ? 'utf8mb4_bin' : null;
}

function defaultOf(dialect: Dialect['name'], { sqlDefault, default: value }: Column<unknown>): string | undefined {
  if (typeof sqlDefault === 'object') return sqlDefault[SYNTAX[dialect].name];
  if (sqlDefault !== undefined || value === undefined) return sqlDefault;
  return typeof value === 'string' ? `'${value}'` : String(value);
}
