export type SqlValue = string | number | null;

/** Many rows for one INSERT: `tuple` stands once a row, its `?` filled from the row's values. */
export class Rows {
  constructor(
    readonly tuple: string,
    readonly rows: readonly (readonly SqlValue[])[],
  ) {}
}

/** A whole condition, on the column `id`. */
export class Ids {
  readonly inOrder: readonly number[];

  constructor(ids: readonly number[]) {
    this.inOrder = [...ids].sort((a, b) => a - b);
  }
}

export type Values = Readonly<Record<string, SqlValue | readonly SqlValue[] | Rows | Ids>>;

/** A statement with `:named` values and `{tables}`. `:now` is the database's clock. */
export interface Statement {
  readonly sql: string;
  readonly values: Values;
}

export interface Answer {
  readonly rows: readonly Record<string, unknown>[];
  /** Rows inserted, updated (matched) or deleted. */
  readonly changed: number;
  readonly insertId: number;
  /** How far the ids of one INSERT are apart; undefined where that has to be asked for. */
  readonly idStep?: number | undefined;
}

/**
 * Statements that belong together, written once for drivers that wait (MySQL) and for one that must not (SQLite: nothing
 * else may run between its BEGIN and COMMIT). Each `yield` sends a statement and receives its answer.
 */
export type Work<T> = Generator<Statement, T, Answer>;

export function* query<Row>(sql: string, values: Values = {}): Work<readonly Row[]> {
  return (yield { sql, values }).rows as readonly Row[];
}

export function* change(sql: string, values: Values = {}): Work<number> {
  return (yield { sql, values }).changed;
}

export function* inTurn(statements: readonly Statement[]): Work<Answer[]> {
  const answers: Answer[] = [];
  for (const statement of statements) answers.push(yield statement);
  return answers;
}

/** Sends the statements of `work` one after the other. An error is thrown where the statement stands in the work. */
export async function drive<T>(work: Work<T>, send: (statement: Statement) => Promise<Answer>): Promise<T> {
  let step = work.next();
  while (!step.done) {
    let answer: Answer;
    try {
      answer = await send(step.value);
    } catch (error) {
      step = work.throw(error);
      continue;
    }
    step = work.next(answer);
  }
  return step.value;
}

/** The same without ever giving up the thread. */
export function driveSync<T>(work: Work<T>, send: (statement: Statement) => Answer): T {
  let step = work.next();
  while (!step.done) {
    let answer: Answer;
    try {
      answer = send(step.value);
    } catch (error) {
      step = work.throw(error);
      continue;
    }
    step = work.next(answer);
  }
  return step.value;
}
