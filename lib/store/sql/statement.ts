import type { ChangeName } from '../../job/queue-event.js';
import type { StoredError } from '../../job/stored-error.js';

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

/** A change of what the tables say of a job. */
export interface Change {
  readonly event: ChangeName;
  readonly queue: string;
  readonly jobId: number;
  readonly name: string;
  readonly attempt: number;
  readonly ranMs?: number | null;
  readonly delayMs?: number;
  /** Encoded. */
  readonly result?: string | null;
  readonly error?: StoredError;
  /** The owner who holds the job, or held it until now. */
  readonly owner?: string | null;
}

/** The changes to jobs of queues that want them recorded. */
export type Changes = (isRecorded: (queue: string) => boolean) => readonly Change[];

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
  /** The id of the first row of an INSERT. */
  readonly insertId: number;
  /** How far the ids of one INSERT are apart; undefined where that has to be asked for. */
  readonly idStep?: number | undefined;
}

/** Statements none of which needs the answer to another. Where the driver can, they travel as one text. */
export interface Step {
  readonly statements: readonly Statement[];
  /** Whether they are the last of their transaction, which may be committed along with them. */
  readonly isLast?: boolean;
  /** What this transaction makes of jobs: see RecordingDatabase. Such a step has no statements. */
  readonly changes?: Changes;
}

/**
 * Statements that belong together, written once for drivers that wait (MySQL) and for one that must not (SQLite: nothing
 * else may run between its BEGIN and COMMIT). Each `yield` sends a step and receives its answers.
 */
export type Work<T> = Generator<Step, T, readonly Answer[]>;

/** What work that reads and decides comes to, and the writes with which its transaction ends. */
export interface Decided<T> {
  readonly value: T;
  /** Whether anything has been written, these or what came before them: else there is nothing to be in doubt about. */
  readonly hasWritten: boolean;
  readonly writes: readonly Statement[];
}

export function* query<Row>(sql: string, values: Values = {}): Work<readonly Row[]> {
  const [answer] = yield { statements: [{ sql, values }] };
  return answer!.rows as readonly Row[];
}

export function* change(sql: string, values: Values = {}): Work<number> {
  const [answer] = yield { statements: [{ sql, values }] };
  return answer!.changed;
}

export function* together(statements: readonly Statement[]): Work<readonly Answer[]> {
  return statements.length === 0 ? [] : yield { statements };
}

/** The same where nothing of the transaction follows. What is found out from the answers undoes nothing any more. */
export function* lastTogether(statements: readonly Statement[]): Work<readonly Answer[]> {
  return yield { statements, isLast: true };
}

/** Says what the transaction makes of jobs, so that it can be recorded in it. Costs nothing where nobody wants that. */
export function* note(changes: Changes): Work<void> {
  yield { statements: [], changes };
}

/** The same work, each step of which is done by `send`. */
export function* relay<T>(work: Work<T>, send: (step: Step) => Work<readonly Answer[]>): Work<T> {
  let step = work.next();
  while (!step.done) {
    let answers: readonly Answer[];
    try {
      answers = yield* send(step.value);
    } catch (error) {
      step = work.throw(error);
      continue;
    }
    step = work.next(answers);
  }
  return step.value;
}

/** Sends the steps of `work` one after the other. An error is thrown where the step stands in the work. */
export async function drive<T>(work: Work<T>, send: (step: Step) => Promise<readonly Answer[]>): Promise<T> {
  let step = work.next();
  while (!step.done) {
    let answers: readonly Answer[] = [];
    try {
      if (step.value.statements.length > 0) answers = await send(step.value);
    } catch (error) {
      step = work.throw(error);
      continue;
    }
    step = work.next(answers);
  }
  return step.value;
}

/** The same without ever giving up the thread. */
export function driveSync<T>(work: Work<T>, send: (statement: Statement) => Answer): T {
  let step = work.next();
  while (!step.done) {
    let answers: readonly Answer[];
    try {
      answers = step.value.statements.map(send);
    } catch (error) {
      step = work.throw(error);
      continue;
    }
    step = work.next(answers);
  }
  return step.value;
}
