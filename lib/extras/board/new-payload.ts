import { InvalidOptionsError } from '../../job/errors.js';
import { expected } from '../../job/expectation.js';
import { hasMask } from '../dashboard/redactor.js';

/** The page shows masks in place of secrets. They must not overwrite the secrets, and no job may start with them. */
export function newPayload(payload: unknown, where = 'Cannot update'): unknown {
  InvalidOptionsError.throwIfAny(where, [
    expected(payload !== undefined, 'a payload', payload),
    expected(!hasMask(payload), 'the new payload to have values in place of ••••', 'hidden values'),
  ]);
  return payload;
}
