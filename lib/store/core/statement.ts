import { batchesOf, pageSize } from '../../common/lists.js';
import { nextTurn } from '../../common/turn.js';
import { safeId } from '../../job/identifiers.js';
import type { JobEventName } from '../../job/queue-event.js';
import type { StoredError } from '../../job/stored-error.js';
import type { Tables } from '../tables/table-names.js';

// Characters, most of them of one byte: far below the default max_allowed_packet.
export const MAX_STATEMENT_LENGTH = 500_000;
// SQLite accepts about 32,000 values per statement, and no row has more than twenty.
const MAX_ROWS = 1_000;

export type SqlValue = string | number | null;

/**
 * Splits items into chunks that a server accepts in one statement. Keeps their order. An item may be longer alone. Takes the
 * items of a chunk when the caller asks for it, so that no turn of the event loop prepares all statements of a long list.
 */
export function* chunksOf<Item>(
  items: Iterable<Item>,
  lengthOf: (item: Item) => number,
  maxItems: number,
): Generator<Item[]> {
  const size = pageSize(maxItems);
  let chunk: Item[] = [];
  let length = 0;
  for (const item of items) {
    const itemLength = lengthOf(item);
    if (chunk.length > 0 && (chunk.length >= size || length + itemLength > MAX_STATEMENT_LENGTH)) {
      yield chunk;
      chunk = [];
      length = 0;
    }
    chunk.push(item);
    length += itemLength;
  }
  if (chunk.length > 0) yield chunk;
}

export function rowChunks(rows: Iterable<SqlValue[]>): Generator<SqlValue[][]> {
  return chunksOf(rows, valuesLengthOf, MAX_ROWS);
}

/** The approximate length of the values in a statement. */
export function valuesLengthOf(values: readonly SqlValue[]): number {
  return values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 10), 0);
}

/** A complete condition on a column of ids. */
export class Ids {
  readonly inOrder: readonly number[];

  constructor(
    ids: readonly number[],
    readonly column: 'id' | 'needs' = 'id',
  ) {
    this.inOrder = [...ids].sort((a, b) => a - b);
  }
}

export interface JobEvent {
  readonly event: JobEventName;
  readonly queue: string;
  readonly jobId: number;
  readonly name: string;
  readonly attempt: number;
  readonly ranMs?: number | null;
  readonly delayMs?: number;
  /** Encoded as JSON. */
  readonly result?: string | null;
  readonly error?: StoredError;
  /** The owner of an assigned job, or its owner before this change. */
  readonly owner?: string | null;
}

/** The events of jobs in queues with stored events. */
export type JobEventSource = (emitsEvents: (queue: string) => boolean) => readonly JobEvent[];

/** The rows of one INSERT: the values of the tuple for each. */
export type Rows = readonly (readonly SqlValue[])[];

export type Values = Readonly<Record<string, SqlValue | readonly SqlValue[] | Rows | Ids>>;

/**
 * A statement with `:named` values and `{tables}`. `:now` is the database's clock. `:rows(?, ?)` repeats the tuple for
 * each row.
 */
export interface Statement {
  readonly sql: string;
  readonly values: Values;
}

export function statement(sql: string, values: Values = {}): Statement {
  return { sql, values };
}

export interface StatementResult {
  readonly rows: readonly Record<string, unknown>[];
  /** Rows inserted, updated (matched) or deleted. */
  readonly affectedRows: number;
  /** The id of the first row of an INSERT. */
  readonly insertId: number;
  /** The step between the ids of one INSERT; undefined if the driver does not know it. */
  readonly idStep?: number | undefined;
}

/** Statements that do not need each other's results. If the driver can, it sends them as one text. */
export interface Step {
  readonly statements: readonly Statement[];
  /** Whether they are the last of their transaction, so that COMMIT can be sent with them. */
  readonly isLast?: boolean;
  /** The events of this transaction: see withEventOutbox. A step with events has no statements. */
  readonly events?: JobEventSource;
  /** Jobs that the statements end, take from their claims or start anew: see notingChanges. */
  readonly changes?: readonly { readonly job: { readonly id: number } }[];
}

/**
 * A verb as a generator of steps. Each `yield` sends a step and receives its results. One source serves both drivers:
 * on MySQL a step is one round trip; on SQLite no other code may run between BEGIN and COMMIT.
 */
export type Work<T> = Generator<Step, T, readonly StatementResult[]>;

/**
 * Lets the event loop run. A loop over any number of rows asks `isTurnLong` after each one, and then yields this step. On
 * SQLite the event loop runs only in work that commits each statement alone.
 */
export const NEXT_TURN: Step = { statements: [] };

/** The value of work that reads and decides, and the writes that end its transaction. */
export interface FinalWrites<T> {
  readonly value: T;
  /** Whether the transaction writes anything. If it does not, a lost answer to its commit does not matter. */
  readonly hasWritten: boolean;
  readonly writes: readonly Statement[];
}

export const deleteFrom = (table: keyof Tables, where: string) => `
  {delete ${table}}
  WHERE ${where}`;

export function* query<Row>(sql: string, values: Values = {}): Work<readonly Row[]> {
  const [result] = yield { statements: [{ sql, values }] };
  return result!.rows as readonly Row[];
}

/** The ids of the rows that the statement selects as `id`. */
export function* queryIds(sql: string, values?: Values): Work<number[]> {
  return (yield* query<{ id: number }>(sql, values)).map(({ id }) => Number(id));
}

/** The rows that the statement selects for the `:ids`, of which it names at most `size` at a time. */
export function* queryInBatches<Row>(
  sql: string,
  ids: readonly number[],
  size: number,
  values: Values = {},
): Work<Row[]> {
  const batches: (readonly Row[])[] = [];
  for (const batch of batchesOf(ids, size)) batches.push(yield* query<Row>(sql, { ...values, ids: batch }));
  return batches.flat();
}

/** Returns the number of affected rows. */
export function* execute(sql: string, values: Values = {}): Work<number> {
  const [result] = yield { statements: [{ sql, values }] };
  return result!.affectedRows;
}

/**
 * Reads the time of the database beside other statements. A claim sends it after the statement that locks a row: the time of
 * that statement is from before its wait, and the transaction that had the lock may have written a later one.
 */
export const READ_TIME = 'SELECT :now AS at';

/** The time of the database in milliseconds. */
export function* readTime(): Work<number> {
  const [row] = yield* query<{ at: number }>(READ_TIME);
  return Number(row!.at);
}

/** @param sql an INSERT of `:rows(…)` */
export function* insertInChunks(sql: string, rows: Iterable<SqlValue[]>): Work<void> {
  for (const chunk of rowChunks(rows)) yield* execute(sql, { rows: chunk });
}

/** InnoDB gives one plain multi-row INSERT ids at equal steps. On a Galera cluster the step is the number of nodes. */
const SELECT_ID_STEP = `SELECT @@auto_increment_increment AS step`;

export function* readIdStep(): Work<number> {
  return Number((yield* query<{ step: number }>(SELECT_ID_STEP))[0]!.step);
}

/** The ids of the rows of one INSERT, in their order. Throws UnsafeJobIdError if the step of several ids is unknown. */
export function idsFrom({ insertId, idStep = NaN }: StatementResult, count: number): number[] {
  return Array.from({ length: count }, (_, index) => safeId(index === 0 ? insertId : insertId + index * idStep));
}

/** Like `idsFrom`, but reads the step if the driver did not report it. */
export function* readInsertedIds(answer: StatementResult, count: number): Work<number[]> {
  const isKnown = count === 1 || answer.idStep !== undefined;
  return idsFrom(isKnown ? answer : { ...answer, idStep: yield* readIdStep() }, count);
}

/** Sends the statements in one step. */
export function* executeAll(statements: readonly Statement[]): Work<readonly StatementResult[]> {
  return statements.length === 0 ? [] : yield { statements };
}

/** Sends at most `size` statements in each step, because a server accepts no text of any length. */
export function* executeInBatches(statements: readonly Statement[], size = 100): Work<StatementResult[]> {
  const results: StatementResult[] = [];
  for (const batch of batchesOf(statements, size)) results.push(...(yield* executeAll(batch)));
  return results;
}

/** Like `executeAll`, for the last step of a transaction. It commits with the step, so a later error undoes nothing. */
export function* executeFinal(statements: readonly Statement[]): Work<readonly StatementResult[]> {
  return yield { statements, isLast: true };
}

/** Reports the events of the transaction. Costs nothing if no queue stores events. */
export function* recordEvents(events: JobEventSource): Work<void> {
  yield { statements: [], events };
}

/** Runs `work` with `send` in place of each step that sends or reports something. */
export function* relay<T>(work: Work<T>, send: (step: Step) => Work<readonly StatementResult[]>): Work<T> {
  let step = work.next();
  while (!step.done) {
    let results: readonly StatementResult[];
    try {
      results = step.value === NEXT_TURN ? yield NEXT_TURN : yield* send(step.value);
    } catch (error) {
      step = work.throw(error);
      continue;
    }
    step = work.next(results);
  }
  return step.value;
}

/** The work receives the error of a failed step at its `yield`. */
export async function drive<T>(work: Work<T>, send: (step: Step) => Promise<readonly StatementResult[]>): Promise<T> {
  let step = work.next();
  while (!step.done) {
    let results: readonly StatementResult[] = [];
    try {
      if (step.value === NEXT_TURN) await nextTurn();
      else if (step.value.statements.length > 0) results = await send(step.value);
    } catch (error) {
      step = work.throw(error);
      continue;
    }
    step = work.next(results);
  }
  return step.value;
}

/** Like `drive`, but synchronous, so that no other code of the process runs in between. */
export function driveSync<T>(work: Work<T>, send: (statement: Statement) => StatementResult): T {
  let step = work.next();
  while (!step.done) {
    let results: readonly StatementResult[];
    try {
      results = step.value.statements.map(send);
    } catch (error) {
      step = work.throw(error);
      continue;
    }
    step = work.next(results);
  }
  return step.value;
}
