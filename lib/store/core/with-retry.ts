import { StoreUnavailableError } from '../../job/errors.js';
import type { Clock } from '../../common/clock.js';
import { classifyError, explainRejection, isLockWaitTimeout } from './classify-error.js';

// Deadlocks and certification conflicts pass within milliseconds. More in a row have another cause.
const MAX_TRIES = 20;
const MAX_RECONNECTS = 2;

/** Called before a statement or a transaction is repeated, with the code of the error. */
export type OnRetry = (code: string) => void;

/** The driver's code of an error after which the library retries, such as `ER_LOCK_DEADLOCK` or `SQLITE_BUSY`. */
export function retryCode(error: unknown): string {
  const { code, errno } = (error ?? {}) as { code?: string; errno?: number };
  // mysql2 reports a closed connection without any code.
  return code ?? (errno === undefined ? 'CONNECTION_CLOSED' : String(errno));
}

/**
 * Repeats a transaction after a deadlock, a lock wait timeout or a connection that died in the pool. `attempt` must run
 * the whole transaction each time, on a connection that was rolled back.
 *
 * @param maxLockWaits the number of lock waits, of one second each, after which it rejects; default 20
 */
export async function withRetry<T>(
  clock: Clock,
  attempt: () => Promise<T>,
  maxLockWaits = MAX_TRIES,
  onRetry?: OnRetry,
): Promise<T> {
  for (let tries = 1, reconnects = 0, lockWaits = 0; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      const errorClass = classifyError(error);
      const isStuck = isLockWaitTimeout(error) && ++lockWaits >= maxLockWaits;
      if (errorClass === 'again' && tries < MAX_TRIES && !isStuck) {
        onRetry?.(retryCode(error));
        await clock.sleep(Math.random() * Math.min(2 ** tries, 100));
        continue;
      }
      // The first failure may be a pooled connection that died unnoticed. A second one is an outage.
      if (errorClass === 'reconnect' && ++reconnects < MAX_RECONNECTS) {
        onRetry?.(retryCode(error));
        continue;
      }
      throw errorClass === 'none' ? explainRejection(error) : storeUnavailableError(error, 'not-done');
    }
  }
}

export function storeClosedError(): StoreUnavailableError {
  return new StoreUnavailableError(
    'The queue is closed, since its application has been shut down. Use it, and await its promises, before app.close() or in ' +
      'the hooks onModuleDestroy() and beforeApplicationShutdown().',
    'not-done',
  );
}

export function storeUnavailableError(error: unknown, outcome: 'not-done' | 'unknown'): StoreUnavailableError {
  const { code, message } = error as { code?: string; message?: string };
  const summary =
    outcome === 'unknown'
      ? 'The answer of the database was lost, so the work may have been done'
      : 'The database did not do the work';
  return new StoreUnavailableError(
    `${summary}: ${message?.includes(code ?? '') ? message : `${code} ${message}`}`,
    outcome,
    { cause: error },
    isLockWaitTimeout(error),
  );
}
