import { StoreUnavailableError } from '../../job/errors.js';
import type { Clock } from '../../time/clock.js';
import { isLockWait, remedyFor } from './remedy.js';

// Deadlocks and certification conflicts pass within milliseconds; more of them in a row mean something else is wrong.
const TRIES = 20;
const RECONNECTS = 2;

/**
 * Does a transaction again after a deadlock, a lock wait that timed out or a connection that had died in the pool. It is
 * done as a whole, on a connection that has been rolled back, never a part of it.
 *
 * @param mostLockWaits after so many, of a second each, somebody else is taken to hold the lock for good
 */
export async function persist<T>(clock: Clock, attempt: () => Promise<T>, mostLockWaits = TRIES): Promise<T> {
  for (let tries = 1, reconnects = 0, lockWaits = 0; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      const remedy = remedyFor(error);
      const isStuck = isLockWait(error) && ++lockWaits >= mostLockWaits;
      if (remedy === 'again' && tries < TRIES && !isStuck) {
        await clock.sleep(Math.random() * Math.min(2 ** tries, 100));
        continue;
      }
      // The first failure may be a pooled connection that had died unnoticed; a second one is not.
      if (remedy === 'reconnect' && ++reconnects < RECONNECTS) continue;
      if (remedy !== 'none') throw unavailable(error, 'not-done');
      throw error;
    }
  }
}

export function unavailable(error: unknown, outcome: 'not-done' | 'unknown'): StoreUnavailableError {
  const { code, message } = error as { code?: string; message?: string };
  const what =
    outcome === 'unknown'
      ? 'The answer of the database was lost; the work may have been done'
      : 'The database did not do it';
  return new StoreUnavailableError(
    `${what}: ${message?.includes(code ?? '') ? message : `${code} ${message}`}`,
    outcome,
    {
      cause: error,
    },
    isLockWait(error),
  );
}
