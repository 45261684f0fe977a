import { UnsafeJobIdError } from '../../job/errors.js';
import { query, type StatementResult, type Work } from './statement.js';

/** A job id as a number. Throws UnsafeJobIdError above 2^53: a rounded number could be the id of another job. */
export function safeId(id: unknown): number {
  const number = Number(id);
  if (!Number.isSafeInteger(number)) throw new UnsafeJobIdError(id);
  return number;
}

/** For lists, which omit the other rows. */
export function withSafeIds<Row extends { readonly id: unknown }>(rows: readonly Row[]): Row[] {
  return rows.filter(({ id }) => Number.isSafeInteger(Number(id)));
}

export function idsOf(rows: readonly { readonly id: unknown }[]): number[] {
  return rows.map(({ id }) => safeId(id));
}

/** The distinct ids in ascending order, in which all transactions lock the rows of a table. */
export function ascending(ids: Iterable<number>): number[] {
  return [...new Set(ids)].sort((a, b) => a - b);
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

/** SQLite reports the last id of an INSERT. It has one writer at a time, so the ids are consecutive. */
export function sqliteIds(lastId: number, count: number): Pick<StatementResult, 'insertId' | 'idStep'> {
  return { insertId: lastId - count + 1, idStep: 1 };
}
