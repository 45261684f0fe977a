import type { ClaimStrategy } from '../../../job/claim-strategy.js';
import type { ClaimedJob } from '../../../job/job.js';
import type { Dialect } from '../../core/sql-database.js';
import type { Work } from '../../core/statement.js';
import type { ClaimedRow } from '../../rows/claimed-row.js';
import type { ClaimRequest } from '../../rows/claim.js';
import { listMarked, markFirst } from './claim-by-update.js';
import { hasWorkBefore } from './claimable.js';
import { WAITING_ONLY } from './lock-waiting-only.js';
import { claimOptimistically } from './optimistic.js';
import { claimInOneStatement } from './single-statement.js';
import { claimSkippingLocked } from './skip-locked.js';
import type { QueuePosition, ScanStart } from '../../rows/scan-cursors.js';

/** The reason for each strategy that a server, or a kind of database, does not support. */
export type UnsupportedStrategies = Readonly<Partial<Record<ClaimStrategy, string>>>;

/** The claim strategies of one kind of database. */
export interface ClaimStrategies {
  /** The best first. */
  readonly claimStrategies: Readonly<Partial<Record<ClaimStrategy, ClaimImplementation>>>;
  /** The other strategies. */
  readonly unsupportedStrategies: UnsupportedStrategies;
}

export interface ClaimImplementation {
  /** @param marked the rows that `mark` has marked */
  claim(request: ClaimRequest, start: ScanStart, marked: readonly ClaimedRow[]): Work<ClaimedJob[]>;
  /**
   * Marks jobs before the transaction of `claim`, in statements that commit on their own, and calls the request's
   * `onChoosing`. The work may run again from its start.
   */
  mark?(request: ClaimRequest): () => Work<readonly ClaimedRow[]>;
  /** See ChosenStrategy. */
  readonly mayShareTransaction: boolean;
  /** Whether a waiting job stands before the cursors. Missing if claims of this strategy use no scan cursors. */
  hasWorkBefore?(queue: string, cursors: readonly QueuePosition[]): Work<boolean>;
}

// `lock` claims with the same statements. The lock that its claims name is held while the jobs run.
const SKIP_LOCKED: ClaimImplementation = {
  claim: (request, start) => claimSkippingLocked(request, start),
  hasWorkBefore,
  mayShareTransaction: true,
};

const LOCK_WAITING_ONLY: ClaimImplementation = {
  ...SKIP_LOCKED,
  claim: (request, start) => claimSkippingLocked(request, start, WAITING_ONLY),
};

const MYSQL: ClaimStrategies = {
  claimStrategies: {
    'skip-locked': SKIP_LOCKED,
    optimistic: { claim: claimOptimistically, mayShareTransaction: false },
    update: { mark: markFirst, claim: (request, _, marked) => listMarked(request, marked), mayShareTransaction: false },
    lock: SKIP_LOCKED,
  },
  unsupportedStrategies: {},
};

export const CLAIM_STRATEGIES: Readonly<Record<Dialect['name'], ClaimStrategies>> = {
  mysql: MYSQL,
  mariadb: {
    ...MYSQL,
    claimStrategies: { ...MYSQL.claimStrategies, 'skip-locked': LOCK_WAITING_ONLY, lock: LOCK_WAITING_ONLY },
  },
  sqlite: {
    claimStrategies: { update: { claim: claimInOneStatement, mayShareTransaction: true } },
    unsupportedStrategies: {
      'skip-locked': 'SQLite locks no rows, and has one writer at a time',
      lock: 'SQLite locks no rows, so a handler would hold up every other writer',
      optimistic: 'SQLite has one writer at a time, so claims never conflict',
    },
  },
};
