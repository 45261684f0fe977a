import { StoreUnavailableError } from '../../job/errors.js';
import type { Clock } from '../../time/clock.js';
import { explained } from './missing-privilege.js';
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
      throw remedy === 'none' ? explained(error) : unavailable(error, 'not-done');
    }
  }
}

/** The store was asked for something after it had been closed. */
export function storeClosed(): StoreUnavailableError {
  return new StoreUnavailableError(
    'The queue is closed, since its application has been shut down. Use it, and await its answers, before app.close() or in ' +
      'the hooks onModuleDestroy() and beforeApplicationShutdown().',
    'not-done',
  );
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
