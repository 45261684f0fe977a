import { InvalidOptionsError } from './errors.js';
import { expected, isWhole } from './expectation.js';

export function jobIdProblem(id: unknown): string | undefined {
  return expected(isWhole(id, 1, Number.MAX_SAFE_INTEGER), 'a job id: a whole number of 1 or more', id);
}

export function checkJobId(id: unknown): asserts id is number {
  InvalidOptionsError.throwIfAny('Invalid job id', [jobIdProblem(id)]);
}
