import type { EntitySchemaColumnOptions } from 'typeorm';

// Types that mysql, mariadb and better-sqlite3 all know. None of these entities is ever synchronized, so where the tables
// have a longer text or another collation, theirs counts.

/** Drivers give a BIGINT as a text. All of these are whole numbers far below 2^53. */
const asNumber = {
  from: (value: unknown) => (value === null || value === undefined ? value : Number(value)),
  to: (value: unknown) => value,
};

/** For a column that is never null, so that filling it does not make its row longer. */
export const zeroAsNull = {
  from: (value: unknown) => Number(value) || null,
  to: (value: unknown) => value ?? 0,
};

export function bigint(name: string): EntitySchemaColumnOptions {
  return { name, type: 'bigint', transformer: asNumber };
}

export function int(name: string): EntitySchemaColumnOptions {
  return { name, type: 'int' };
}

export function smallint(name: string): EntitySchemaColumnOptions {
  return { name, type: 'smallint' };
}

export function tinyint(name: string): EntitySchemaColumnOptions {
  return { name, type: 'tinyint' };
}

export function varchar(name: string, length: number): EntitySchemaColumnOptions {
  return { name, type: 'varchar', length };
}

/** JSON as text: the library encodes and decodes it itself. */
export function text(name: string): EntitySchemaColumnOptions {
  return { name, type: 'text' };
}

export function nullable(column: EntitySchemaColumnOptions): EntitySchemaColumnOptions {
  return { ...column, nullable: true };
}

/** A column that the database fills in; an INSERT through the entity leaves it to it. */
export function filledIn(column: EntitySchemaColumnOptions): EntitySchemaColumnOptions {
  return { ...column, insert: false };
}
