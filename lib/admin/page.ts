import { InvalidOptionsError } from '../job/errors.js';
import { expected, isOptions, isWhole, unknownKeys } from '../job/expectation.js';
import type { JobPage } from '../store/admin-store.js';
import { noOptions } from './no-options.js';

/**
 * The page, checked: 100 from the beginning, unless something else is said.
 *
 * @param what the value of `after` is
 */
export function pageOf(page: JobPage, what: string): Required<JobPage> {
  const { after = 0, limit = 100, ...unknown } = isOptions(page) ? page : noOptions('Invalid page', page);
  InvalidOptionsError.throwIfAny('Invalid page', [
    ...unknownKeys(unknown, ['after', 'limit']),
    expected(isWhole(after, 0, Number.MAX_SAFE_INTEGER), `after to be ${what}`, after),
    expected(isWhole(limit, 1, 1_000), 'limit to be a whole number from 1 to 1000', limit),
  ]);
  return { after, limit };
}
