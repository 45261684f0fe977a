import type { ClaimStrategy } from '../../job/claim-strategy.js';
import type { ClaimedJob } from '../../job/job.js';
import type { SqlDatabase } from '../core/sql-database.js';
import type { Work } from '../core/statement.js';
import type { Lock } from '../core/template.js';
import type { ClaimRequest } from './claim.js';
import type { QueuePosition, ScanStart } from './scan-cursors.js';

/** The reasons why a database does not support strategies. */
export type UnsupportedStrategies = Readonly<Partial<Record<ClaimStrategy, string>>>;

/** The claim strategies of one opened database. */
export interface ClaimStrategies {
  /** The best first. */
  readonly supported: Readonly<Partial<Record<ClaimStrategy, ClaimImplementation>>>;
  /** The other strategies. */
  readonly unsupported: UnsupportedStrategies;
  /**
   * The supported strategies that this server refuses although its kind of database has them.
   *
   * @param queue the name of a queue that has a row
   */
  findRefusals(queue: string): Promise<UnsupportedStrategies>;
}

/** One way to claim. A file in the folder of its database has its refusals, its statements and the reasons. */
export interface ClaimImplementation {
  /** See ChosenStrategy. */
  readonly mayShareTransaction: boolean;
  /** How a claim from groups locks their rows and jobs. */
  readonly groupLock: Lock;
  /** Claims in the transaction of the caller, which may keep the limits of the queue, or complete jobs. */
  claim(request: ClaimRequest, start: ScanStart): Work<ClaimedJob[]>;
  /**
   * Claims in transactions of its own, if the claim must keep no limits and no turns, and calls `onChoosing`. Missing: claims
   * in one transaction.
   */
  claimAlone?(request: ClaimRequest, database: ClaimDatabase): Promise<ClaimedJob[]>;
  /** Whether a waiting job stands before the cursors. Missing if claims of this strategy use no scan cursors. */
  hasWorkBefore?(queue: string, cursors: readonly QueuePosition[]): Work<boolean>;
}

export type ClaimDatabase = Pick<SqlDatabase, 'runIdempotent' | 'transaction' | 'transactOnce'>;
