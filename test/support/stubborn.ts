import { hasCode } from '../../lib/job/errors.js';

/** Does it until the database answers. `again`: an answer was lost that may have been a success. */
export async function stubborn<T>(verb: (again: boolean) => Promise<T>): Promise<T> {
  let again = false;
  for (let tries = 20; ; tries--) {
    try {
      return await verb(again);
    } catch (error) {
      if (tries === 0 || !hasCode(error, 'STORE_UNAVAILABLE')) throw error;
      again ||= (error as { outcome?: string }).outcome === 'unknown';
    }
  }
}
