import { checkClaimPlan } from '../../../doctor/check-claim-plan.js';
import { checkClaims } from '../../../doctor/check-claims.js';
import { checkClock } from '../../../doctor/check-clock.js';
import { checkNotifications } from '../../../doctor/check-notifications.js';
import { checkQueues } from '../../../doctor/check-queues.js';
import { checkTables } from '../../../doctor/check-tables.js';
import type { Check } from '../../../doctor/check.js';
import { checkDurability } from './check-durability.js';
import { checkLockWaits } from './check-lock-waits.js';
import { checkPrivileges } from './check-privileges.js';
import { checkServerSettings } from './check-server.js';
import { checkTransactions } from './check-transactions.js';
import { MYSQL_PLANS } from './claim-plans.js';
import { MYSQL_TABLES } from './mysql-tables.js';

/** In the order of the report. */
export const MYSQL_CHECKS: readonly Check[] = [
  checkServerSettings,
  checkDurability,
  checkTables(MYSQL_TABLES),
  checkPrivileges,
  checkClock,
  checkTransactions,
  checkLockWaits,
  checkClaims,
  checkQueues,
  checkClaimPlan(MYSQL_PLANS),
  checkNotifications,
];
