import { InvalidOptionsError } from '../job/errors.js';
import { expected } from '../job/expectation.js';

export function rejectNonObject(where: string, given: unknown): never {
  throw new InvalidOptionsError(where, [expected(false, 'an object', given)!]);
}
