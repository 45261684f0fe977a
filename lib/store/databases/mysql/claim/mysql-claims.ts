import type { DedicatedConnection, Dialect, SqlDatabase } from '../../../core/sql-database.js';
import type { ClaimStrategies } from '../../../rows/claim.js';
import { WAITING_ONLY } from './lock-waiting-only.js';
import { claimingOptimistically } from './optimistic.js';
import { BY_SCAN, skipLockedRefusal, skippingLocked } from './skip-locked.js';
import { claimingByUpdate } from './update.js';
import { query } from '../../../core/statement.js';

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

// `lock` claims with the statements of `skip-locked`. The worker lock that its claims name is held while the jobs run.

const SEVERAL_WRITERS =
  'several nodes of this cluster accept writes, and each node sees only its own row locks, so that workers on other nodes ' +
  `would rescue jobs of living workers; choose 'skip-locked', whose claims are rows that every node has`;

// Most servers have neither variable. Every MariaDB has the first one.
const CLUSTER_SETTINGS = `
  SHOW GLOBAL VARIABLES
  WHERE Variable_name IN ('wsrep_on', 'group_replication_single_primary_mode')`;

/** A server that refuses `skip-locked` refuses `lock`, too. */
async function lockRefusal(database: Pick<SqlDatabase, 'runIdempotent'>): Promise<string | undefined> {
  const rows = await database.runIdempotent(() => query<{ Variable_name: string; Value: string }>(CLUSTER_SETTINGS));
  const isSet = (name: string, value: string) => rows.some((row) => row.Variable_name === name && row.Value === value);
  return isSet('wsrep_on', 'ON') || isSet('group_replication_single_primary_mode', 'OFF') ? SEVERAL_WRITERS : undefined;
}
