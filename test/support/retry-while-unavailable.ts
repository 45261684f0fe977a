import { hasCode } from '../../lib/job/errors.js';

/** Repeats the call until the database answers. `mayHaveCommitted` is true after a lost answer. */
export async function retryWhileUnavailable<T>(verb: (mayHaveCommitted: boolean) => Promise<T>): Promise<T> {
  let mayHaveCommitted = false;
  for (let remainingTries = 20; ; remainingTries--) {
    try {
      return await verb(mayHaveCommitted);
    } catch (error) {
      if (remainingTries === 0 || !hasCode(error, 'STORE_UNAVAILABLE')) throw error;
      mayHaveCommitted ||= (error as { outcome?: string }).outcome === 'unknown';
    }
  }
}
