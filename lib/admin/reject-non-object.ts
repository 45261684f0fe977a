import { InvalidOptionsError } from '../job/errors.js';
import { expected } from '../job/expectation.js';

/** Throws for options that are not an object. */
export function rejectNonObject(where: string, given: unknown): never {
  throw new InvalidOptionsError(where, [expected(false, 'an object', given)!]);
}
