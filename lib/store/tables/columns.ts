import type { EntitySchemaColumnOptions } from 'typeorm';

// The types exist on mysql, mariadb and better-sqlite3. No entity is synchronized: if a migration gives a column a
// longer text or another collation, the migration counts.

declare const VALUE: unique symbol;

/** A column of an entity. `Value` is its type in a row. */
export interface Column<Value> extends EntitySchemaColumnOptions {
  readonly [VALUE]?: Value;
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
  readonly entity: string;
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
  return { name, type: 'bigint', transformer: asNumber };
}

export function int(name: string): Column<number> {
  return { name, type: 'int' };
}

export function smallint(name: string): Column<number> {
  return { name, type: 'smallint' };
}

export function tinyint(name: string): Column<number> {
  return { name, type: 'tinyint' };
}

export function varchar<Value extends string = string>(name: string, length: number): Column<Value> {
  return { name, type: 'varchar', length };
}

/** JSON as text. The library encodes and decodes it. */
export function text(name: string): Column<string> {
  return { name, type: 'text' };
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

/** A column that an INSERT through the entity leaves to its default in the database. */
export function filledByDatabase<Value>(column: Column<Value>): Column<Value> {
  return { ...column, insert: false };
}

/** A column that stores null as 0, so that an UPDATE does not change the length of the row. */
export function zeroAsNull(column: Column<number>): Column<number | null> {
  return { ...column, transformer: zeroToNull };
}
