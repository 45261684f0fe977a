import { randomFillSync } from 'node:crypto';
import { InvalidOptionsError, UnsafeJobIdError } from './errors.js';
import { expected } from './expectation.js';
import type { QueueName } from './queue-jobs.js';

const NAME = /^[A-Za-z0-9._:-]{1,100}$/;
export const NAME_EXPECTED = `1 to 100 of the characters A-Z a-z 0-9 . _ : -`;

export const DEFAULT_JOB_NAME = 'default';

export function nameProblem(
  what: 'queue name' | 'job name' | 'header name' | 'topic' | 'deadLetter' | 'step name',
  value: unknown,
): string | undefined {
  return isName(value) ? undefined : expected(false, `${what} to be ${NAME_EXPECTED}`, value);
}

export function checkQueueName(value: unknown): asserts value is QueueName {
  if (!isName(value)) throw new InvalidOptionsError('Invalid queue', [nameProblem('queue name', value)!]);
}

export function isName(value: unknown): value is string {
  return typeof value === 'string' && NAME.test(value);
}

export function isWhole(value: unknown, least: number, most: number): value is number {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
}

export function jobIdProblem(id: unknown): string | undefined {
  return expected(isWhole(id, 1, Number.MAX_SAFE_INTEGER), 'a job id: a whole number of 1 or more', id);
}

export function checkJobId(id: unknown): asserts id is number {
  InvalidOptionsError.throwIfAny('Invalid job id', [jobIdProblem(id)]);
}

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

// Random bits are read for 64 ids at once, because each read has a fixed cost.
const randomBits = new Uint32Array(128);
let usedBits = randomBits.length;

/** 53 random bits. Unlike a counter, a restart or failover cannot repeat an id. */
export function randomId(): number {
  if (usedBits === randomBits.length) {
    randomFillSync(randomBits);
    usedBits = 0;
  }
  const high = randomBits[usedBits++]! >>> 11;
  return high * 2 ** 32 + randomBits[usedBits++]! || 1;
}
