import type { ClaimedJob } from '../../job/job.js';
import type { ClaimStrategy } from '../../job/claim-strategy.js';
import type { ClaimRequest } from '../job-store.js';
import type { Bound, ClaimStart } from '../claims/claim-bounds.js';
import type { KeyName } from './key-rows.js';
import type { ClaimedRow } from './claimed-row.js';
import type { Work } from './statement.js';

/** The operations that each kind of database does in its own way. */
export interface Dialect {
  /** SQL for the server's own time in whole milliseconds since 1970, whatever time zones are set where. */
  readonly now: string;
  /** The best first. */
  readonly claims: Readonly<Partial<Record<ClaimStrategy, ClaimWay>>>;
  /** Why it has no others. */
  readonly refusals: Readonly<Partial<Record<ClaimStrategy, string>>>;
  /** Adds a queue's row where it has none. */
  addQueue(queue: string): Work<void>;
  /** Adds rows for keys where they have none. */
  addKeys(keys: readonly KeyName[]): Work<void>;
  /** Whether a transaction that has written keeps everybody else from writing, and sees all that was written before. */
  readonly hasOneWriter: boolean;
  /** The names of the queues that have rows there: a look into the index for each, however many rows there are. */
  queueNames(table: 'jobs' | 'history'): Work<string[]>;
  /** The id that the next job gets, or one below it that no job has. */
  nextId(): Work<number>;
  /** Work that only one process at a time may do, as far as the database can see to that. */
  readonly lock: { take(): Work<boolean>; release(): Work<void> };
}

/** One strategy of claiming. */
export interface ClaimWay {
  /**
   * @param start what this process knows of its last claims of the queue
   * @param marked what `mark` has marked
   */
  claim(request: ClaimRequest, start: ClaimStart, marked: readonly ClaimedRow[]): Work<ClaimedJob[]>;
  /**
   * Marks jobs before the transaction of `claim`, in statements that commit by themselves, and reports to the request when it
   * chooses them. Its work may be begun again.
   */
  mark?(request: ClaimRequest): () => Work<readonly ClaimedRow[]>;
  /** See ChosenStrategy. */
  readonly mayShare: boolean;
  /** Whether a job waits that a claim which begins at the bounds does not see. Missing where claims do not begin there. */
  waitsBehind?(queue: string, bounds: readonly Bound[]): Work<boolean>;
}
