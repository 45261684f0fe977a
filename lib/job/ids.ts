import { InvalidOptionsError } from './errors.js';
import { expected, isWhole } from './expectation.js';
import { randomBytes } from 'node:crypto';

export function jobIdProblem(id: unknown): string | undefined {
  return expected(isWhole(id, 1, Number.MAX_SAFE_INTEGER), 'a job id: a whole number of 1 or more', id);
}

export function checkJobId(id: unknown): asserts id is number {
  InvalidOptionsError.throwIfAny('Invalid job id', [jobIdProblem(id)]);
}

/** 53 random bits. Unlike a counter, a restart or failover cannot repeat an id. */
export function randomId(): number {
  return Number(randomBytes(8).readBigUInt64BE() >> 11n) || 1;
}
