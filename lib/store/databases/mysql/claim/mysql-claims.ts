import type { DedicatedConnection, Dialect, SqlDatabase } from '../../../core/sql-database.js';
import type { ClaimStrategies } from '../../../rows/claim-strategies.js';
import { lockRefusal } from './lock.js';
import { WAITING_ONLY } from './lock-waiting-only.js';
import { claimingOptimistically } from './optimistic.js';
import { BY_SCAN, skipLockedRefusal, skippingLocked } from './skip-locked.js';
import { claimingByUpdate } from './update.js';

/** @param repeat repeats the tests of the server after a lost connection */
export function mysqlClaims(
  { name }: Pick<Dialect, 'name'>,
  database: Pick<SqlDatabase, 'runIdempotent'> & { openDedicated(): Promise<DedicatedConnection> },
  repeat: <T>(act: () => Promise<T>) => Promise<T>,
): ClaimStrategies {
  const skipLocked = skippingLocked(name === 'mariadb' ? WAITING_ONLY : BY_SCAN);
  const optimistic = claimingOptimistically();
  return {
    supported: { 'skip-locked': skipLocked, optimistic, update: claimingByUpdate(optimistic), lock: skipLocked },
    unsupported: {},
    findRefusals: (queue) =>
      repeat(async () => {
        const refusal = await skipLockedRefusal(() => database.openDedicated(), queue);
        if (refusal !== undefined) return { 'skip-locked': refusal, lock: refusal };
        const ofLock = await lockRefusal(database);
        return ofLock === undefined ? {} : { lock: ofLock };
      }),
  };
}
