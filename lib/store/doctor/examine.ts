import { runCheck, type Check, type Patient } from './check.js';
import { checkClaimPlan } from './check-claim-plan.js';
import { checkClaims } from './check-claims.js';
import { checkClock } from './check-clock.js';
import { checkDurability } from './check-durability.js';
import { checkLockWaits } from './check-lock-waits.js';
import { checkNotifications } from './check-notifications.js';
import { checkPrivileges } from './check-privileges.js';
import { checkQueues } from './check-queues.js';
import { checkServerSettings } from './check-server.js';
import { checkSqliteFile } from './check-sqlite-file.js';
import { checkTables } from './check-tables.js';
import { checkTransactions } from './check-transactions.js';
import type { Diagnosis } from './diagnosis.js';

const CHECKS: readonly Check[] = [
  ...[checkServerSettings, checkDurability, checkSqliteFile, checkTables, checkPrivileges, checkClock],
  ...[checkTransactions, checkLockWaits, checkClaims, checkQueues, checkClaimPlan, checkNotifications],
];

export async function examine(patient: Patient): Promise<Diagnosis[]> {
  const diagnoses: Diagnosis[] = [];
  for (const check of CHECKS)
    if (check.on.includes(patient.dialect.name)) diagnoses.push(...(await runCheck(check, patient)));
  return diagnoses;
}
