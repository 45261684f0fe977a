import { Ids, Rows, type SqlValue, type Statement } from './statement.js';

export interface BoundStatement {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** Binds statements for one set of tables and one clock. */
export class Templates {
  readonly #parsed = new Map<string, { texts: string[]; names: string[] }>();

  /**
   * @param tables what stands for each `{table}`, quoted
   * @param now the SQL for the database's own time, in milliseconds since 1970
   * @param skewMs added to `now`; 0 outside tests
   */
  constructor(
    private readonly tables: Readonly<Record<string, string>>,
    private readonly now: string,
    private readonly skewMs: () => number,
  ) {}

  bind({ sql, values }: Statement): BoundStatement {
    const { texts, names } = this.#parse(sql);
    const bound: SqlValue[] = [];
    let text = texts[0]!;
    names.forEach((name, index) => {
      text += this.#place(sql, name, values[name], bound) + texts[index + 1]!;
    });
    return { text, values: bound };
  }

  #place(sql: string, name: string, value: Statement['values'][string] | undefined, bound: SqlValue[]): string {
    if (name === 'now') {
      bound.push(this.skewMs());
      return `(${this.now} + ?)`;
    }
    if (value === undefined) throw new Error(`No value for :${name} in:\n${sql}`);
    if (value instanceof Rows) return this.#rows(value, bound);
    if (value instanceof Ids) return idCondition(value, bound);
    // Not any object: what another program has written into a column of SQLite may come back as bytes.
    if (isList(value)) {
      if (value.length === 0) throw new Error(`An empty list for :${name} in:\n${sql}`);
      bound.push(...value);
      return `?${', ?'.repeat(value.length - 1)}`;
    }
    bound.push(value);
    return '?';
  }

  #rows({ tuple, rows }: Rows, bound: SqlValue[]): string {
    // Each :now of the tuple takes the skew as a value of its own, in its place among the row's.
    const { texts } = this.#parse(tuple);
    const places = texts.map((text) => text.split('?').length - 1);
    const one = texts.join(`(${this.now} + ?)`);
    for (const row of rows) {
      let next = 0;
      places.forEach((count, part) => {
        if (part > 0) bound.push(this.skewMs());
        for (let i = 0; i < count; i++) bound.push(row[next++]!);
      });
    }
    return Array.from(rows, () => one).join(', ');
  }

  #parse(sql: string): { texts: string[]; names: string[] } {
    let parsed = this.#parsed.get(sql);
    if (!parsed) {
      const texts: string[] = [];
      const names: string[] = [];
      const named = sql.replace(/\{(\w+)\}/g, (_, table: string) => this.tables[table] ?? raiseUnknown(table));
      named.split(/:([a-z]\w*)/i).forEach((part, index) => (index % 2 ? names : texts).push(part));
      this.#parsed.set(sql, (parsed = { texts, names }));
    }
    return parsed;
  }
}

// Fewer neighbours than this are not worth a range.
const SHORTEST_RANGE = 3;

/**
 * Neighbours as one range, which a server plans and reads at three quarters of the price of as many single values. The
 * last of them stands alone: both servers lock the row behind a range before they see that it is outside, and it may be
 * another worker's, who waits for one of ours in the same way.
 */
function idCondition({ inOrder }: Ids, bound: SqlValue[]): string {
  if (inOrder.length === 0) throw new Error('An empty list of ids');
  const conditions: string[] = [];
  const single: number[] = [];
  for (let from = 0, to = 0; from < inOrder.length; from = ++to) {
    while (inOrder[to + 1] === inOrder[to]! + 1) to++;
    if (to - from < SHORTEST_RANGE) single.push(...inOrder.slice(from, to + 1));
    else {
      conditions.push('id BETWEEN ? AND ?');
      bound.push(inOrder[from]!, inOrder[to]! - 1);
      single.push(inOrder[to]!);
    }
  }
  conditions.push(`id IN (?${', ?'.repeat(single.length - 1)})`);
  bound.push(...single);
  return `(${conditions.join(' OR ')})`;
}

function isList(value: SqlValue | readonly SqlValue[]): value is readonly SqlValue[] {
  return Array.isArray(value);
}

function raiseUnknown(table: string): never {
  throw new Error(`No table {${table}}`);
}
