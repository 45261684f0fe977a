import type { EntitySchemaColumnOptions } from 'typeorm';

declare const VALUE: unique symbol;

/** What a column stores. `schema/sql-tables.ts` has the type of each database for it. */
export type ColumnKind =
  'bigint' | 'int' | 'smallint' | 'tinyint' | 'word' | 'fixedWord' | 'label' | 'text' | 'shortText';

/** SQL that databases write in different ways. MariaDB has that of MySQL. */
export type SqlPerDatabase = Readonly<Record<'mysql' | 'sqlite', string>>;

/** The time of the database in whole milliseconds since 1970: in statements, and as the default of a column. */
export const NOW: SqlPerDatabase = {
  // UTC_TIMESTAMP() ignores the session's time zone. UNIX_TIMESTAMP() of it would be wrong by the zone's offset.
  mysql: `TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', UTC_TIMESTAMP(3)) DIV 1000`,
  // unixepoch('subsec') would be shorter, but the command-line clients of some distributions do not support it yet.
  sqlite: `CAST(ROUND((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER)`,
};

/**
 * A column of a table, and of its entity. `Value` is its type in a row. Entities have types that TypeORM knows on all
 * databases, which may be shorter than those of the tables: no entity is synchronized.
 */
export interface Column<Value> extends EntitySchemaColumnOptions {
  readonly [VALUE]?: Value;
  readonly name: string;
  readonly kind: ColumnKind;
  /** The longest text, in characters. */
  readonly length?: number;
  readonly default?: string | number;
  /** The SQL of the default, if the entity has none. */
  readonly sqlDefault?: string | SqlPerDatabase;
}

/** By the names of their properties. */
export type Columns = Readonly<Record<string, Column<unknown>>>;

/** A row with these columns, as a repository returns it. */
export type RowOf<Table extends Columns> = {
  -readonly [Name in keyof Table]: Table[Name] extends Column<infer Value> ? Value : never;
};

/** A row with these columns, as a statement returns it. Columns have the names of their properties in snake case. */
export type StoredRow<Table extends Columns> = {
  readonly [Name in keyof Table & string as SnakeCase<Name>]: Table[Name] extends Column<infer Value> ? Value : never;
};

type SnakeCase<Name extends string> = Name extends `${infer Letter}${infer Rest}`
  ? `${Letter extends Lowercase<Letter> ? Letter : `_${Lowercase<Letter>}`}${SnakeCase<Rest>}`
  : '';

export interface TableSchema<TableColumns extends Columns = Columns> {
  /** The name of the entity; undefined: it has none. */
  readonly entity?: string;
  readonly columns: TableColumns;
  /** By the part of their names after the table's name. */
  readonly indexes?: Readonly<Record<string, readonly (keyof TableColumns & string)[]>>;
}

/** Checks the columns of the indexes at compile time. */
export function tableSchema<TableColumns extends Columns>(
  schema: TableSchema<TableColumns>,
): TableSchema<TableColumns> {
  return schema;
}

// Drivers return a BIGINT as a text. All values here are whole numbers far below 2^53.
const asNumber = {
  from: (value: unknown) => (value === null || value === undefined ? value : Number(value)),
  to: (value: unknown) => value,
};

const zeroToNull = {
  from: (value: unknown) => Number(value) || null,
  to: (value: unknown) => value ?? 0,
};

export function bigint(name: string): Column<number> {
  return { name, kind: 'bigint', type: 'bigint', transformer: asNumber };
}

export function int(name: string): Column<number> {
  return { name, kind: 'int', type: 'int' };
}

export function smallint(name: string): Column<number> {
  return { name, kind: 'smallint', type: 'smallint' };
}

export function tinyint(name: string): Column<number> {
  return { name, kind: 'tinyint', type: 'tinyint' };
}

/** ASCII text, such as the name of a queue. Upper and lower case differ. */
export function word<Value extends string = string>(name: string, length: number): Column<Value> {
  return { name, kind: 'word', type: 'varchar', length };
}

/** A word that takes the same room in each row, so that an UPDATE does not change the length of the row. */
export function fixedWord<Value extends string = string>(name: string, length: number): Column<Value> {
  return { name, kind: 'fixedWord', type: 'varchar', length };
}

/** Text of the application, in any script. Upper and lower case differ. */
export function label(name: string, length: number): Column<string> {
  return { name, kind: 'label', type: 'varchar', length };
}

/** JSON as text. The library encodes and decodes it. */
export function text(name: string): Column<string> {
  return { name, kind: 'text', type: 'text' };
}

/** JSON of at most 64 kB. */
export function shortText(name: string): Column<string> {
  return { name, kind: 'shortText', type: 'text' };
}

export function primary<Value>(column: Column<Value>): Column<Value> {
  return { ...column, primary: true };
}

export function generated(column: Column<number>): Column<number> {
  return { ...column, primary: true, generated: 'increment' };
}

export function nullable<Value>(column: Column<Value>): Column<Value | null> {
  return { ...column, nullable: true };
}

export function withDefault<Value>(column: Column<Value>, value: Value & (string | number)): Column<Value> {
  return { ...column, default: value };
}

/** A column that an INSERT through the entity leaves to its default in the database; without `sqlDefault` that is NULL. */
export function filledByDatabase<Value>(column: Column<Value>, sqlDefault?: string | SqlPerDatabase): Column<Value> {
  return { ...column, insert: false, ...(sqlDefault !== undefined && { sqlDefault }) };
}

/** A column that stores null as 0, so that an UPDATE does not change the length of the row. */
export function zeroAsNull(column: Column<number>): Column<number | null> {
  return { ...column, transformer: zeroToNull };
}
