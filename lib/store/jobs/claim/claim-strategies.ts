import type { Dialect } from '../../core/dialect.js';
import { listMarked, markFirst } from './claim-by-update.js';
import type { ClaimImplementation, ClaimStrategies } from './claim-implementation.js';
import { hasWorkBefore } from './claimable.js';
import { claimLockingWaitingOnly } from './lock-waiting-only.js';
import { claimOptimistically } from './optimistic.js';
import { claimInOneStatement } from './single-statement.js';
import { claimSkippingLocked } from './skip-locked.js';

// `lock` claims with the same statements. The lock that its claims name is held while the jobs run.
const SKIP_LOCKED: ClaimImplementation = {
  claim: (request, start) => claimSkippingLocked(request, start),
  hasWorkBefore,
  mayShareTransaction: true,
};

const LOCK_WAITING_ONLY: ClaimImplementation = { ...SKIP_LOCKED, claim: claimLockingWaitingOnly };

const MYSQL: ClaimStrategies = {
  claimStrategies: {
    'skip-locked': SKIP_LOCKED,
    optimistic: { claim: claimOptimistically, mayShareTransaction: false },
    update: { mark: markFirst, claim: (request, _, marked) => listMarked(request, marked), mayShareTransaction: false },
    lock: SKIP_LOCKED,
  },
  unsupportedStrategies: {},
};

const MARIADB: ClaimStrategies = {
  ...MYSQL,
  claimStrategies: { ...MYSQL.claimStrategies, 'skip-locked': LOCK_WAITING_ONLY, lock: LOCK_WAITING_ONLY },
};

const SQLITE: ClaimStrategies = {
  claimStrategies: { update: { claim: claimInOneStatement, mayShareTransaction: true } },
  unsupportedStrategies: {
    'skip-locked': 'SQLite locks no rows, and has one writer at a time',
    lock: 'SQLite locks no rows, so a handler would hold up every other writer',
    optimistic: 'SQLite has one writer at a time, so claims never conflict',
  },
};

export const CLAIM_STRATEGIES: Readonly<Record<Dialect['name'], ClaimStrategies>> = {
  mysql: MYSQL,
  mariadb: MARIADB,
  sqlite: SQLITE,
};
