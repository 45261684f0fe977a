import type { ClaimStrategy } from '../../../job/claim-strategy.js';
import type { ClaimedJob } from '../../../job/job.js';
import type { Work } from '../../core/statement.js';
import type { ClaimedRow } from '../claimed-row.js';
import type { ClaimRequest } from '../job-store.js';
import type { ScanCursor, ScanStart } from './scan-cursors.js';

/** The claim strategies of one kind of database. */
export interface ClaimStrategies {
  /** The best first. */
  readonly claimStrategies: Readonly<Partial<Record<ClaimStrategy, ClaimImplementation>>>;
  /** For each of the other strategies, the reason why this kind of database does not support it. */
  readonly unsupportedStrategies: Readonly<Partial<Record<ClaimStrategy, string>>>;
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
  hasWorkBefore?(queue: string, cursors: readonly ScanCursor[]): Work<boolean>;
}
