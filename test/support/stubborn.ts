import { hasCode } from '../../lib/job/errors.js';

/** Does it until the database was there for it. */
export async function stubborn<T>(verb: () => Promise<T>, tries = 20): Promise<T> {
  try {
    return await verb();
  } catch (error) {
    if (tries === 0 || !hasCode(error, 'STORE_UNAVAILABLE')) throw error;
    return stubborn(verb, tries - 1);
  }
}
