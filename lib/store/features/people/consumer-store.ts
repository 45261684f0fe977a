import type { MaybePromise } from '../../../common/maybe-promise.js';
import type { ClaimedJob, JobRecord } from '../../../job/job.js';
import type { Outcome } from '../../../job/outcome.js';
import type { Page, PageRequest } from '../../../job/page-options.js';
import type { CallerTransaction } from '../../core/caller-transaction.js';
import type { ClaimRequest } from '../../rows/claim.js';

/** The claim holder that a call expects: the bearer of the token, the owner, or either of them for an admin. */
export type ExpectedHolder = { readonly token: number } | { readonly owner: string } | 'anyone';

/** The new holder of a claim of one job: a person or a program other than a worker. */
export interface Assignee {
  readonly workerId: string;
  /** '' if the bearer of the token holds the job. */
  readonly owner: string;
  /** Null: until the job is released. */
  readonly leaseMs: number | null;
  /** See ClaimRequest. */
  readonly deadLetter?: string | false;
}

/** The id of the claim is the token. */
export interface Assignment {
  readonly job: ClaimedJob;
  /** Decoded; null if the job is `malformed`. */
  readonly payload: unknown;
  readonly headers: Readonly<Record<string, string>>;
  readonly claimId: number;
  readonly owner: string;
  /** By the database's clock; null: until the job is released. */
  readonly leaseUntilMs: number | null;
  readonly stage: string | null;
  /** No claim had the job before. */
  readonly isFresh: boolean;
}

/** The jobs of one claim, each of which gets a claim of its own. */
export interface ClaimSplit extends Assignee {
  readonly claimId: number;
  readonly jobs: readonly ClaimedJob[];
}

export interface StageClaimRequest extends Assignee {
  readonly queue: string;
  readonly stage: string;
  readonly limit: number;
  /** For jobs without a number of attempts of their own. */
  readonly maxAttempts: number;
}

/** See ClaimRequest. */
export type AssignRules = Pick<ClaimRequest, 'maxAttempts' | 'deadLetter'>;

export interface PersonOutcome {
  readonly outcome: Outcome;
  /** How long the history keeps the finished job; false: not at all. */
  readonly retentionMs: number | false;
  /** The queue that gets a copy of the job if it is dead; false: none. */
  readonly deadLetter?: string | false;
}

/** See SnoozeUntil. */
export type Snooze = Extract<Outcome, { kind: 'snooze' }>;

export interface EndedAssignment {
  readonly job: ClaimedJob;
  readonly outcome: Outcome;
  /** The time from the claim to the end of the assignment. */
  readonly heldMs: number;
  /** '' if the bearer of the token held it. */
  readonly owner: string;
}

/** A job in a list of the consumer, with its assignment. */
export interface AssignedJobRecord extends JobRecord {
  /** The stage of the job; null if it is in none. */
  stage: string | null;
  /** The end of the lease. Null if the job is not claimed, or is assigned until it is released. */
  leaseUntil: Date | null;
  /**
   * The time at which the owner who snoozed the job gets it back. Null if it has passed, or if the job is not snoozed.
   */
  snoozedUntil: Date | null;
}

/** A page of a list of the consumer. */
export interface AssignedJobPage extends Page {
  jobs: AssignedJobRecord[];
}

/** The state of a queue in all processes, for a claim. */
export interface ClaimPermit {
  readonly isPaused: boolean;
  /** Whether the claim must keep limits. */
  readonly isLimited: boolean;
  readonly hasGroups: boolean;
}

/**
 * Assigns jobs to people and to programs other than workers. A call by a caller that does not hold the job rejects with
 * JobNotAssignedError; a finished job, with JobFinishedError; a missing one, with JobNotFoundError. Then nothing has
 * changed.
 */
export interface ConsumerStore {
  /** Whether the queue is paused or limited in all processes. Records the use of a temporary queue. */
  claimPermit(queue: string): Promise<ClaimPermit>;
  /** Returns none if the lease of the claim has expired meanwhile. */
  splitClaim(split: ClaimSplit): Promise<Assignment[]>;
  /** Claims waiting jobs in the order of priority and id. Two callers never get the same job. */
  claimFromStage(request: StageClaimRequest): Promise<Assignment[]>;
  /**
   * Assigns a waiting or scheduled job, or one that `from` holds, to the owner until it is released.
   *
   * @param rules called if no claim has the job; an assigned job keeps the rules of its claim
   */
  assign(id: number, to: Assignee, from: ExpectedHolder, rules: (queue: string) => AssignRules): Promise<Assignment>;
  /** In the caller's transaction, if there is one. Then `onCommitted` must follow its commit. */
  end(
    id: number,
    holder: ExpectedHolder,
    decide: (job: ClaimedJob) => MaybePromise<PersonOutcome>,
    transaction?: CallerTransaction,
  ): Promise<EndedAssignment>;
  /** The holder keeps the job, and its lease starts at the time of `outcome`. An expired lease is not renewed. */
  snooze(
    id: number,
    holder: ExpectedHolder,
    outcome: Snooze,
    transaction?: CallerTransaction,
  ): Promise<EndedAssignment>;
  /** Sets the lease to end in `leaseMs`, and returns that time. An expired lease is not renewed. */
  extend(id: number, holder: ExpectedHolder, leaseMs: number): Promise<number>;
  /** Releases the job into a stage; null: into none. Like `end` in the caller's transaction. */
  move(
    id: number,
    holder: ExpectedHolder,
    stage: string | null,
    transaction?: CallerTransaction,
  ): Promise<EndedAssignment>;
  /**
   * After the commit of the caller's transaction in which the assignment of the job ended: lets claims find it, or the
   * next job of its group. Never rejects, because claims examine a group anew after seconds.
   */
  onCommitted(job: ClaimedJob): Promise<void>;
  /** The waiting jobs of a queue that are in no stage, in the order of claims. */
  listUnassigned(queue: string, page: PageRequest): Promise<AssignedJobRecord[]>;
  /** The jobs of an owner, in one queue or in all, by id. */
  listAssigned(owner: string, queue: string | null, page: PageRequest): Promise<AssignedJobRecord[]>;
  /** The jobs of a stage, assigned or not, in the order of claims. */
  listInStage(queue: string, stage: string, page: PageRequest): Promise<AssignedJobRecord[]>;
}
