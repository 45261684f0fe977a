import type { Dialect } from '../core/sql-database.js';
import type { Tables } from '../tables/table-names.js';
import { MIGRATIONS } from './migrations/migrations.js';

type TableKey = keyof Tables;

/** A table as the migrations leave it. Its parts are SQL in which the names of tables stand in braces. */
export interface ExpectedTable {
  /** The definitions of the columns by their names, in order. */
  readonly columns: ReadonlyMap<string, string>;
  readonly primaryKey: readonly string[];
  /** The columns of the indexes by their names, such as `{jobs}_queue`. */
  readonly indexes: ReadonlyMap<string, readonly string[]>;
  /** The SQL after the list of the columns. */
  readonly options: string;
}

interface Draft extends ExpectedTable {
  readonly columns: Map<string, string>;
  readonly indexes: Map<string, readonly string[]>;
}

const CREATE_TABLE = /^CREATE TABLE IF NOT EXISTS \{(\w+)\} \(\n(.*)\n\s*\)(.*)$/s;
const ALTER_TABLE = /^ALTER TABLE \{(\w+)\}\s+(.*)$/s;
const CREATE_INDEX = /^CREATE INDEX IF NOT EXISTS (\S+) ON \{(\w+)\} \((.*)\)$/;
const DROP_INDEX = /^DROP INDEX IF EXISTS (\{(\w+)\}\S*)$/;
const PRIMARY_KEY = /^PRIMARY KEY \((.*)\)$/;
const KEY = /^(?:KEY|ADD INDEX) (\S+) \((.*)\)$/;

/** Reads the tables from the statements of the migrations, so that no second description of them can differ. */
export function expectedTables(dialect: Dialect['name']): ReadonlyMap<TableKey, ExpectedTable> {
  const tables = new Map<TableKey, Draft>();
  for (const { up } of MIGRATIONS) for (const sql of up[dialect]) apply(sql.trim(), tables);
  return tables;
}

function apply(sql: string, tables: Map<TableKey, Draft>): void {
  const tableOf = (key: string | undefined) => tables.get(key as TableKey)!;
  const created = CREATE_TABLE.exec(sql);
  if (created) return void tables.set(created[1] as TableKey, tableFrom(created[2]!, created[3]!));
  const altered = ALTER_TABLE.exec(sql);
  if (altered) return clausesOf(altered[2]!).forEach((clause) => alter(clause, tableOf(altered[1])));
  const indexed = CREATE_INDEX.exec(sql);
  if (indexed) return void tableOf(indexed[2]).indexes.set(indexed[1]!, listOf(indexed[3]!));
  const dropped = DROP_INDEX.exec(sql);
  if (dropped) return void tableOf(dropped[2]).indexes.delete(dropped[1]!);
  throw unreadable(sql);
}

function tableFrom(body: string, options: string): Draft {
  const columns = new Map<string, string>();
  const indexes = new Map<string, readonly string[]>();
  let primaryKey: string[] = [];
  for (const clause of clausesOf(body)) {
    const key = KEY.exec(clause);
    const primary = PRIMARY_KEY.exec(clause);
    if (key) indexes.set(key[1]!, listOf(key[2]!));
    else if (primary) primaryKey = listOf(primary[1]!);
    else {
      const [, name, definition] = /^(\w+) (.*)$/.exec(clause)!;
      columns.set(name!, definition!);
      if (definition!.includes('PRIMARY KEY')) primaryKey = [name!];
    }
  }
  return { columns, indexes, primaryKey, options };
}

function alter(clause: string, { columns, indexes }: Draft): void {
  const key = KEY.exec(clause);
  if (key) return void indexes.set(key[1]!, listOf(key[2]!));
  const [, verb, name, rest] = /^(ADD COLUMN|ALTER COLUMN|DROP INDEX) (\S+) ?(.*)$/.exec(clause) ?? [];
  if (verb === 'ADD COLUMN') return void columns.set(name!, rest!);
  if (verb === 'DROP INDEX') return void indexes.delete(name!);
  if (verb !== 'ALTER COLUMN' || !rest!.startsWith('SET DEFAULT ')) throw unreadable(clause);
  columns.set(name!, columns.get(name!)!.replace(/DEFAULT .*$/, rest!.replace('SET ', '')));
}

/** Each clause of a migration has a line of its own. */
function clausesOf(body: string): string[] {
  return body.split(/,\s*\n/).map((clause) => clause.trim());
}

function listOf(columns: string): string[] {
  return columns.split(', ');
}

function unreadable(sql: string): Error {
  return new Error(`Expected a statement of a migration that expected-tables.ts can read, got: ${sql}`);
}
