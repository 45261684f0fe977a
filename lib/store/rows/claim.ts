import type { ClaimStrategy } from '../../job/claim-strategy.js';
import type { GroupRules } from '../../job/groups/group-options.js';
import type { Statement } from '../core/statement.js';

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
  readonly onLimited?: (moreInMs: number | null) => void;
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
}

/** A lease after its renewal. */
export interface ClaimLease {
  readonly claimId: number;
  /** Ids of the jobs of the claim whose cancellation is requested. */
  readonly cancelRequested: readonly number[];
  /** Another transaction has locked the claim: its lease is still valid, and was not extended. */
  readonly isLocked?: boolean;
}
