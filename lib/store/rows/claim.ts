import type { ClaimStrategy } from '../../job/claim-strategy.js';
import type { GroupRules } from '../../job/groups/group-options.js';
import type { ClaimedJob } from '../../job/job.js';
import type { SqlDatabase } from '../core/sql-database.js';
import type { Statement, Work } from '../core/statement.js';
import type { Lock } from '../core/template.js';

/** Which jobs to claim, how, and for whom. */
export interface ClaimRequest {
  /** A random 53-bit number, never used again: the fencing token of every job that the claim takes. */
  readonly claimId: number;
  readonly workerId: string;
  readonly queue: string;
  readonly limit: number;
  readonly order: 'fifo' | 'lifo';
  readonly strategy: ClaimStrategy;
  /** The id of the worker lock with which the claim ends. 0 or undefined: the claim ends with its lease. */
  readonly lockId?: number;
  readonly leaseMs: number;
  /** How many of the jobs may start before a completion batch raises the limit. */
  readonly startLimit: number;
  /** For jobs without a number of attempts of their own. */
  readonly maxAttempts: number;
  /** Stored with the claim, so that a process that rescues its jobs need not know the queue. See Completion. */
  readonly deadLetter?: string | false;
  /** The owner for whom a consumer claims. */
  readonly owner?: string;
  /**
   * Claims exactly once although the answer to the commit is lost. Costs one more row that is written. Workers don't
   * set it: they let such a claim expire.
   */
  readonly once?: boolean;
  /** Whether the queue has limits, which the claim must keep. */
  readonly isLimited?: boolean;
  /**
   * Called if the limits of the queue allow fewer jobs than requested, maybe none.
   *
   * @param moreInMs the time until they allow more; null: when a job ends
   */
  readonly onLimited?: (moreInMs: number | null, allowed: number) => void;
  /** The rules of the groups. Undefined: the queue has no groups. */
  readonly groups?: GroupRules;
  /** Called if the groups may have more jobs after a time in milliseconds, although no notification announces them. */
  readonly onMoreIn?: (ms: number) => void;
  /** Statements for the last step of the claim. Only the store sets it. */
  readonly alsoWrites?: (jobs: number) => readonly Statement[];
  /** Called when the claim is about to choose its jobs, and again if its transaction is repeated. */
  readonly onChoosing?: () => void;
  /**
   * Called when the claim has locked `count` jobs and not committed yet. A claim that chooses from then on returns later
   * jobs. Some strategies don't know this moment and never call it.
   */
  readonly onLocked?: (count: number) => void;
  /**
   * Called if a missed-work check after the claim has found a waiting job, which the next claim takes. Without it, a claim
   * that finds no job waits for the check, and claims again if that finds one.
   */
  readonly onMissedWork?: () => void;
}

/** A lease after its renewal. */
export interface ClaimLease {
  readonly claimId: number;
  /** Ids of the jobs of the claim whose cancellation is requested. */
  readonly cancelRequested: readonly number[];
  /** Another transaction has locked the claim: its lease is still valid, and was not extended. */
  readonly isLocked?: boolean;
}

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

/** The position of a job. */
export interface QueuePosition {
  readonly priority: number;
  readonly id: number;
}

/** The last claimed position of one priority. */
export interface ScanCursor extends QueuePosition {
  /** Claims start after the last job that any process has claimed: no job that this process knows of waits before it. */
  readonly passesClaimed: boolean;
}

/** A job that a claim may take again. */
export type ReturnedJob = QueuePosition & { readonly queue: string };

/** Where a claim starts to read its queue. */
export interface ScanStart {
  /** In the order of priorities, past the jobs that other running claims have locked. Empty: the head of the queue. */
  readonly cursors: readonly ScanCursor[];
  /** The claim has locked these jobs, maybe none: a claim that begins meanwhile starts after them. */
  reach(jobs: readonly QueuePosition[]): void;
  /** Whether this process has not read the last claimed position since it lost its cursors. */
  readonly needsLastClaimed: boolean;
  /** @param position the last one that any process had claimed. Undefined: no claim has jobs. */
  foundLastClaimed(position: QueuePosition | undefined): void;
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
  /** Missing if claims of this strategy use no scan cursors. */
  readonly cursorReads?: CursorReads;
}

/** Reads without locks. */
export interface CursorReads {
  /** The first job that waits before the cursors. */
  findWorkBefore(queue: string, cursors: readonly ScanCursor[]): Work<QueuePosition | undefined>;
  /** Whether a job waits after the cursors, or has a priority without one. */
  hasWorkAfter(queue: string, cursors: readonly ScanCursor[]): Work<boolean>;
}

export type ClaimDatabase = Pick<SqlDatabase, 'runIdempotent' | 'transaction' | 'transactOnce'>;
