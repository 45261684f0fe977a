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
import type { Diagnosis, DoctorStore } from './doctor-store.js';

const CHECKS: readonly Check[] = [
  ...[checkServerSettings, checkDurability, checkSqliteFile, checkTables, checkPrivileges, checkClock],
  ...[checkTransactions, checkLockWaits, checkClaims, checkQueues, checkClaimPlan, checkNotifications],
];

export class SqlDoctorStore implements DoctorStore {
  /** @param patient `close` also closes its connections */
  constructor(private readonly patient: Patient & { close(): Promise<void> }) {}

  async examine(): Promise<Diagnosis[]> {
    const diagnoses: Diagnosis[] = [];
    for (const check of CHECKS) {
      if (check.on.includes(this.patient.dialect.name)) diagnoses.push(...(await runCheck(check, this.patient)));
    }
    return diagnoses;
  }

  close(): Promise<void> {
    return this.patient.close();
  }
}
