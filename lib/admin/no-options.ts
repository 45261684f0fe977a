import { InvalidOptionsError } from '../job/errors.js';
import { expected } from '../job/expectation.js';

/** For what should have been options, and is something else. */
export function noOptions(where: string, given: unknown): never {
  throw new InvalidOptionsError(where, [expected(false, 'an object', given)!]);
}
