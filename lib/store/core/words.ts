/**
 * What the text of a statement leaves to the database. A statement says it in braces: `{lock}`, `{lock free}`, `{by primary}`,
 * `{by jobs.queue}`, `{delete jobs}`, `{join in order}`, `{on duplicate queue, group_key}`, `{given turn}` or `{only sqlite}`. A word is empty if the database needs nothing there.
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

function wordOf(name: string, tables: Readonly<Record<string, string>>, words: Words): string | undefined {
  if (name === 'lock') return words.lock;
  if (name === 'lock free') return words.lockFree;
  if (name === 'by primary') return words.byPrimary;
  if (name === 'join in order') return words.joinInOrder;
  if (name === 'only sqlite') return words.onlySqlite;
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
