import { safeId } from './claimed-row.js';
import { query, type Answer, type Work } from './statement.js';

/** InnoDB gives one plain multi-row INSERT contiguous ids, in steps of the server's; on a cluster these are its size. */
export const ID_STEP = `SELECT @@auto_increment_increment AS step`;

/** How far the ids of one INSERT are apart, on the connection that is used. */
export function* askIdStep(): Work<number> {
  return Number((yield* query<{ step: number }>(ID_STEP))[0]!.step);
}

/** The ids of an INSERT of several rows, in their order. */
export function idsFrom({ insertId, idStep = 1 }: Answer, count: number): number[] {
  return Array.from({ length: count }, (_, index) => safeId(insertId + index * idStep));
}

/** The same where it may have to be asked for how far they are apart. */
export function* insertedIds(answer: Answer, count: number): Work<number[]> {
  const isKnown = count === 1 || answer.idStep !== undefined;
  return idsFrom(isKnown ? answer : { ...answer, idStep: yield* askIdStep() }, count);
}

/** What SQLite tells is the last one's id; it has one writer at a time, so they are neighbours. */
export function sqliteIds(lastId: number, count: number): Pick<Answer, 'insertId' | 'idStep'> {
  return { insertId: lastId - count + 1, idStep: 1 };
}
