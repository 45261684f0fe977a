import { NO_SKEW, type Skew } from '../../common/clock.js';
import { Ids, type Rows, type SqlValue, type Statement } from './statement.js';

export interface BoundStatement {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

interface ParsedTemplate {
  readonly texts: string[];
  /** The value after each text but the last. */
  readonly values: { readonly name: string; readonly tuple: string | undefined }[];
}

// A tuple can contain calls of functions, but these contain no further calls.
const NAMED_VALUE = /:([a-z]\w*)(\((?:[^()]|\([^()]*\))*\))?/i;

/** Binds statements to one set of table names, one database and its clock. */
export class Templates {
  readonly #parsed = new Map<string, ParsedTemplate>();

  constructor(
    private readonly tables: Readonly<Record<string, string>>,
    private readonly dialect: { readonly now: string; readonly words: Words },
    private readonly skew: Skew = NO_SKEW,
  ) {}

  bind({ sql, values }: Statement): BoundStatement {
    const { texts, values: named } = this.#parse(sql);
    const bound: SqlValue[] = [];
    let text = texts[0]!;
    named.forEach(({ name, tuple }, index) => {
      text += tuple
        ? this.#bindRows(tuple, values[name] as Rows, bound)
        : this.#bindValue(sql, name, values[name], bound);
      text += texts[index + 1]!;
    });
    return { text, values: bound };
  }

  #bindValue(sql: string, name: string, value: Statement['values'][string] | undefined, bound: SqlValue[]): string {
    if (name === 'now') {
      bound.push(this.skew.ms);
      return `(${this.dialect.now} + ?)`;
    }
    if (value === undefined) throw new Error(`No value for :${name} in:\n${sql}`);
    if (value instanceof Ids) return bindIdCondition(value, bound);
    // Checked by Array.isArray: a column of SQLite that another program wrote can be a Uint8Array.
    if (isList(value)) {
      if (value.length === 0) throw new Error(`An empty list for :${name} in:\n${sql}`);
      bound.push(...value);
      return `?${', ?'.repeat(value.length - 1)}`;
    }
    bound.push(value as SqlValue);
    return '?';
  }

  #bindRows(tuple: string, rows: Rows, bound: SqlValue[]): string {
    // Each :now of the tuple binds the skew as a value, at its position among the row's values.
    const { texts } = this.#parse(tuple);
    const counts = texts.map((text) => text.split('?').length - 1);
    const one = texts.join(`(${this.dialect.now} + ?)`);
    for (const row of rows) {
      let next = 0;
      counts.forEach((count, part) => {
        if (part > 0) bound.push(this.skew.ms);
        for (let i = 0; i < count; i++) bound.push(row[next++]!);
      });
    }
    return Array.from(rows, () => one).join(', ');
  }

  #parse(sql: string): ParsedTemplate {
    let parsed = this.#parsed.get(sql);
    if (!parsed) {
      this.#parsed.set(sql, (parsed = { texts: [], values: [] }));
      const parts = expand(sql, this.tables, this.dialect.words).split(NAMED_VALUE);
      for (let index = 0; index < parts.length; index += 3) {
        parsed.texts.push(parts[index]!);
        if (index + 1 < parts.length) parsed.values.push({ name: parts[index + 1]!, tuple: parts[index + 2] });
      }
    }
    return parsed;
  }
}

// Shorter ranges cost more than single values.
const MIN_RANGE_LENGTH = 3;
// SQLite nests each OR one level deeper, and accepts 1,000 levels.
const MAX_RANGES = 500;

/**
 * Writes consecutive ids as one range, which costs a server three quarters of the same number of single values. The
 * last id stays outside the range: both servers lock the row after a range before they discard it. That row may belong
 * to another worker that waits for one of ours in the same way, which would be a deadlock.
 */
function bindIdCondition({ inOrder, column }: Ids, bound: SqlValue[]): string {
  if (inOrder.length === 0) throw new Error('An empty list of ids');
  const conditions: string[] = [];
  const single: number[] = [];
  for (let from = 0, to = 0; from < inOrder.length; from = ++to) {
    while (inOrder[to + 1] === inOrder[to]! + 1) to++;
    if (to - from < MIN_RANGE_LENGTH || conditions.length === MAX_RANGES) single.push(...inOrder.slice(from, to + 1));
    else {
      conditions.push(`${column} BETWEEN ? AND ?`);
      bound.push(inOrder[from]!, inOrder[to]! - 1);
      single.push(inOrder[to]!);
    }
  }
  conditions.push(`${column} IN (?${', ?'.repeat(single.length - 1)})`);
  bound.push(...single);
  return `(${conditions.join(' OR ')})`;
}

function isList(value: Statement['values'][string]): value is readonly SqlValue[] {
  return Array.isArray(value);
}

/**
 * What the text of a statement leaves to the database. A statement says it in braces: `{lock}`, `{lock free}`, `{by primary}`,
 * `{by jobs.queue}`, `{delete jobs}`, `{join in order}`, `{on duplicate queue, group_key}`, `{given turn}` or `{only sqlite}`. A word is empty if the database needs nothing there.
 * `{latest}` and `{current}` are always empty: see `readsLatest` and `readsCurrent`.
 */
export interface Words {
  /** Locks the selected rows until the transaction ends. */
  readonly lock: string;
  /** Like `lock`, without the rows that another transaction has locked. */
  readonly lockFree: string;
  /** Reads the table by this index alone, and so locks no row that the statement does not need. */
  readonly byPrimary: string;
  byIndex(index: string): string;
  /** The beginning of a DELETE that reads the table by its primary key alone. */
  deleteFrom(table: string): string;
  /** Stands behind SELECT: reads the tables in the order of the text. */
  readonly joinInOrder: string;
  /** Stands behind the rows of an INSERT: the following assignments change a row that has the key already. */
  onDuplicate(key: string): string;
  /** In these assignments: the value that the INSERT has for the column. */
  given(column: string): string;
  /** Stands behind a condition that finds rows on SQLite only. */
  readonly onlySqlite: string;
}

/** The words for a lock, which a statement can take as a parameter. */
export type Lock = 'lock' | 'lock free';

/** Writes the words and the names of the tables into a statement. */
export function expand(sql: string, tables: Readonly<Record<string, string>>, words: Words): string {
  return sql.replace(
    /\{([\w ,.]+)\}/g,
    (_, name: string) => tables[name] ?? wordOf(name, tables, words) ?? raise(name),
  );
}

/**
 * Whether a statement says `{latest}`: a plain read about rows that the transaction has locked. The snapshot of a caller's
 * transaction can be older than these locks. After its own rows, such a read then also returns those of the latest commits.
 * A row that both have comes twice, the latest one last.
 */
export function readsLatest({ sql }: Pick<Statement, 'sql'>): boolean {
  return sql.includes('{latest}');
}

/**
 * Whether a statement says `{current}`: a plain read of the `id`s, among the `:ids`, for which a row exists. In a caller's
 * transaction it also finds the rows of the latest commits, and leaves out the rows that only the older snapshot still has,
 * or that this transaction has deleted.
 */
export function readsCurrent({ sql }: Pick<Statement, 'sql'>): boolean {
  return sql.includes('{current}');
}

function wordOf(name: string, tables: Readonly<Record<string, string>>, words: Words): string | undefined {
  if (name === 'lock') return words.lock;
  if (name === 'lock free') return words.lockFree;
  if (name === 'by primary') return words.byPrimary;
  if (name === 'join in order') return words.joinInOrder;
  if (name === 'only sqlite') return words.onlySqlite;
  if (name === 'latest' || name === 'current') return '';
  const [, verb, columns = ''] = /^(on duplicate|given) (.+)$/.exec(name) ?? [];
  if (verb) return verb === 'given' ? words.given(columns) : words.onDuplicate(columns);
  const [, table = '', index] = /^(?:by|delete) (\w+)(?:\.(\w+))?$/.exec(name) ?? [];
  const own = tables[table];
  if (own === undefined) return undefined;
  return index === undefined ? words.deleteFrom(own) : words.byIndex(`${own}_${index}`);
}

function raise(name: string): never {
  throw new Error(`No table and no word {${name}}`);
}
