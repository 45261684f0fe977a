import type { ClaimedJob } from '../../job/job.js';
import type { Outcome } from '../../job/outcome.js';

export interface Completion {
  readonly job: ClaimedJob;
  readonly claimId: number;
  /** Null if no worker had claimed the job. */
  readonly workerId: string | null;
  /** The owner who claimed the job. '' or undefined: a worker or the bearer of a token claimed it. */
  readonly owner?: string | null;
  readonly outcome: Outcome;
  /** The job is in a stage. Workers claim no such jobs. */
  readonly isStaged?: boolean;
  /** Null if the attempt did not start. */
  readonly ranMs: number | null;
  /** The attempt may have started, although `ranMs` is null. */
  readonly mayHaveStarted?: boolean;
  /** The time of the error, for people. Needed only if an attempt has failed. */
  readonly endedAt?: Date | undefined;
  /** How long the history keeps the finished job. False: not at all. See jobRetentionMs. */
  readonly retentionMs: number | false;
  /** The queue that receives a copy of the job if it is dead. Undefined or false: none. */
  readonly deadLetter?: string | false;
  /** The timeout of the job: its error is encoded within this time. Undefined or false: it has none. */
  readonly timeoutMs?: number | false;
}

/** The end of a job that no claim has and of which no record stays. For the other jobs of its flow it is cancelled. */
export interface Removal extends Pick<Completion, 'isStaged'> {
  readonly isRemoval: true;
  readonly job: Pick<ClaimedJob, 'id' | 'queue' | 'overrides' | 'malformed'>;
  readonly claimId: 0;
  readonly outcome: { readonly kind: 'cancel' };
}

export type JobEnd = Completion | Removal;

/** The part of a completion batch that is about a claim, not about one of its jobs. */
export interface ClaimProgress {
  readonly id: number;
  /** How many jobs at the head of the claim may start from now on. */
  readonly startLimit: number;
  /** The claim has no more jobs once this batch has committed, so its row is deleted. */
  readonly isFinished: boolean;
}

/** Outcomes, and progress of claims, that one transaction writes. */
export interface CompletionBatch {
  readonly completions: readonly Completion[];
  readonly claims: readonly ClaimProgress[];
  /** The answer to an earlier commit of this batch was lost, so it may be stored already. */
  readonly mayHaveCommitted: boolean;
  /** Other transactions had locked some jobs at the last attempt, so locks are checked before a statement waits. */
  readonly wereLocked?: boolean;
  /** Ids of claims whose jobs may be rescued by now: the lease may have expired, or the lock may be lost. */
  readonly mayBeRescued: ReadonlySet<number>;
}

/** How a committed batch differs from the batch that was given. */
export interface CompletionResult {
  /** The claims of these jobs were lost. Nothing was written for them. */
  readonly lost: ReadonlySet<Completion>;
  /** These jobs were to return to their queue. A cancellation was requested, so they were cancelled instead. */
  readonly cancelled: ReadonlySet<Completion>;
  /** Ids of claims of which no further job may start: their jobs were rescued, or can be rescued at any time. */
  readonly lostClaims: ReadonlySet<number>;
}

/** Other transactions have locked the jobs of these completions, or their groups. Nothing of the batch was written. */
export class JobsLockedError extends Error {
  constructor(readonly completions: ReadonlySet<Completion>) {
    super(`Another transaction has kept ${completions.size} job(s), or their groups, locked for seconds.`);
  }
}
