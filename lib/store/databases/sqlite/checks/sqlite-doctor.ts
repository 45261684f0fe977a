import { checkClaimPlan } from '../../../doctor/check-claim-plan.js';
import { checkClaims } from '../../../doctor/check-claims.js';
import { checkNotifications } from '../../../doctor/check-notifications.js';
import { checkQueues } from '../../../doctor/check-queues.js';
import { checkTables } from '../../../doctor/check-tables.js';
import type { Check } from '../../../doctor/check.js';
import { checkSqliteFile, checkWriteLock } from './check-sqlite-file.js';
import { SQLITE_PLANS } from './claim-plans.js';
import { SQLITE_TABLES } from './sqlite-tables.js';

/** In the order of the report. */
export const SQLITE_CHECKS: readonly Check[] = [
  checkSqliteFile,
  checkWriteLock,
  checkTables(SQLITE_TABLES),
  checkClaims,
  checkQueues,
  checkClaimPlan(SQLITE_PLANS),
  checkNotifications,
];
