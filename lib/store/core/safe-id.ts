import { UnsafeJobIdError } from '../../job/errors.js';

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
