import type { EntityManager } from 'typeorm';
import type { ClaimStrategy } from '../../job/claim-strategy.js';
import type { ClaimedJob, NewJob } from '../../job/job.js';
import type { Outcome, ExpiredLeaseJob } from '../../job/outcome.js';
import type { MaybePromise } from '../../common/maybe-promise.js';
import type { CallerTransaction } from '../core/caller-transaction.js';
import type { BoundStatement } from '../core/template.js';
import type { KeyStore } from '../features/keys/key-store.js';
import type { ClaimLease, ClaimRequest } from '../rows/claim.js';
import type { Completion, CompletionBatch, CompletionResult } from '../rows/completion.js';
import type { OwnWork } from '../../job/own-work.js';

export type { CallerTransaction };

/** A job that leaves its worker for the bearer of a token. */
export interface HandOff {
  readonly job: ClaimedJob;
  readonly workerId: string;
  /** The id of the claim that has the job. */
  readonly from: number;
  /** The id of the new claim, which is the token: a random 53-bit number, never used again. */
  readonly to: number;
  readonly leaseMs: number;
  readonly deadLetter?: string | false;
}

/** The state of a queue in all processes. */
export interface QueueState {
  /** Whether it has jobs to claim. */
  readonly waiting: boolean;
  readonly paused: boolean;
  /** Whether claims must keep limits. */
  readonly isLimited: boolean;
  /** Whether jobs of the queue have groups. */
  readonly hasGroups: boolean;
  /** Whether it starts no job at present, because a handler or an administrator has asked for a rest. */
  readonly isResting: boolean;
  /** The setting that holds instead of the concurrency of the options; null: none. */
  readonly concurrency: number | null;
  /** Whether the setting `enabled` lets it run jobs at present. */
  readonly isEnabled: boolean;
}

export interface WorkSummary {
  /** For each requested queue with a row. */
  readonly queues: ReadonlyMap<string, QueueState>;
  /** Milliseconds until the next scheduled job is due, 0 if one is. Null without a scheduled job. */
  readonly dueInMs: number | null;
  /**
   * Milliseconds until the next lease expires. 0 if one has expired, or if one was written before the clock of the
   * server was set back. Null without a lease.
   */
  readonly leaseExpiryInMs: number | null;
  /** Milliseconds until the next tick of a schedule that this process runs, 0 if one is due. Null without one. */
  readonly tickInMs: number | null;
  /** Changes when a process starts to wait for a job to end. Null: no process waits. */
  readonly awaited: number | null;
  /** The time of the database in milliseconds; null if no requested queue has a row. */
  readonly atMs: number | null;
}

/** Like the times of WorkSummary, but only those in the future. */
export type UpcomingTimes = Pick<WorkSummary, 'dueInMs' | 'leaseExpiryInMs' | 'tickInMs'>;

export type PromotedJob = Pick<ClaimedJob, 'id' | 'queue' | 'name' | 'attempt'>;

export interface RescuedJob {
  readonly job: ExpiredLeaseJob;
  readonly outcome: Outcome;
  /** The queue that received a copy of the job if it is dead. False: none. */
  readonly deadLetter: string | false;
}

export type OnRescued = (jobs: readonly RescuedJob[]) => void;

export interface RescueRules extends OwnWork {
  decide(job: ExpiredLeaseJob): MaybePromise<Outcome>;
  /** How long the history keeps dead and cancelled jobs of the queue. False: not at all. */
  retentionMs(queue: string): number | false;
}

export interface ChosenStrategy {
  readonly name: ClaimStrategy;
  /**
   * Claims of the strategy may share a transaction with outcomes. They must not wait for locks, because other
   * transactions may wait for the locks of the outcomes.
   */
  readonly mayShareTransaction: boolean;
}

export interface ChosenStrategies {
  readonly byQueue: ReadonlyMap<string, ChosenStrategy>;
  /** A warning for the log if a strategy is not the usual one. */
  readonly notice?: string;
}

/**
 * Each verb is atomic, and correct with any number of processes. A verb that cannot reach the database rejects with
 * StoreUnavailableError and can be repeated.
 */
export interface JobStore extends KeyStore {
  /** Returns the ids in the order of the jobs. */
  enqueue(jobs: readonly NewJob[], transaction?: CallerTransaction): Promise<number[]>;

  /** The INSERT of a job without a key or a subject, for the application to send. Sends no statement. */
  enqueueStatement(job: NewJob): Promise<BoundStatement>;

  /** Never calls `act` after a rollback. Calls it at once if there is no transaction, or none is open. */
  afterCommit(transaction: CallerTransaction | undefined, act: () => void): void;

  /** Counts up to `limit`, without locks. Never waits for the transaction of the caller to end. */
  countWaiting(queue: string, limit: number, transaction?: CallerTransaction): Promise<number>;

  /**
   * Reads without locks.
   *
   * @param schedules the schedules from code that this process declares; default: none
   * @param assumedWaiting queues that are reported as waiting without a read, which would pass all their active and
   * finished jobs; default: none
   */
  summarizeWork(
    queues: readonly string[],
    schedules?: readonly string[],
    assumedWaiting?: readonly string[],
  ): Promise<WorkSummary>;

  /** For a worker that cannot promote due jobs, rescue expired claims or run ticks: other transactions have locked them. */
  readUpcomingTimes(schedules?: readonly string[]): Promise<UpcomingTimes>;

  /** Marks up to `limit` waiting jobs active, in the order of the queue. Two callers never receive the same job. */
  claim(request: ClaimRequest): Promise<ClaimedJob[]>;

  /**
   * Extends the leases of these claims, also those that have expired. A claim that a rescue has taken is missing in the
   * result: its jobs are lost. A claim that another transaction has locked does not delay the others.
   */
  extend(claimIds: readonly number[]): Promise<ClaimLease[]>;

  /** Reads the ids of the jobs of each claim whose cancellation is requested. Leaves the leases unchanged. */
  cancelRequests(claimIds: readonly number[]): Promise<ReadonlyMap<number, readonly number[]>>;

  /**
   * Encodes what an outcome has to store. A batch waits for the slowest of its completions, unless they were prepared.
   * Never rejects. Returns undefined if there is nothing to wait for.
   */
  prepareCompletion?(completion: Completion): Promise<unknown> | undefined;

  /**
   * Writes outcomes, all in one transaction. Rejects with JobsLockedError, and writes nothing, if other transactions
   * have locked some of the jobs.
   */
  complete(batch: CompletionBatch): Promise<CompletionResult>;

  /**
   * Both in one transaction with one commit, because a worker that completes jobs usually wants the next ones. The
   * strategy must be able to share a transaction.
   */
  completeAndClaim(
    batch: CompletionBatch,
    request: ClaimRequest,
  ): Promise<CompletionResult & { readonly jobs: ClaimedJob[] }>;

  /**
   * Runs `handlerWork` in a transaction of the application's DataSource, and completes the job with its last
   * statements. Rejects with LeaseLostError, and rolls back, if the claim was lost. Rejects with TransactionLostError,
   * and completes nothing, if the transaction ended before `handlerWork` did.
   */
  completeWith<T>(handlerWork: (manager: EntityManager) => Promise<{ value: T; completion: Completion }>): Promise<T>;

  /** Gives the job a claim of its own. Returns false, and changes nothing, if its claim was lost. */
  handOff(request: HandOff): Promise<boolean>;

  /** Leaves claims that still have jobs unchanged: their leases expire. */
  deleteEmptyClaims(claimIds: readonly number[]): Promise<void>;

  /** Makes at most `limit` due jobs waiting and returns them. */
  promote(limit: number): Promise<readonly PromotedJob[]>;

  /**
   * Takes jobs from claims whose leases have expired. Skips jobs that other transactions have locked. A lease that was
   * written before the clock of the server was set back expires its own length from now, unless its worker extends it.
   *
   * @param onRescued called for each claim as soon as its rescue has committed, because its jobs can run from then on
   */
  rescue(rules: RescueRules, onRescued?: OnRescued): Promise<RescuedJob[]>;

  /** Deletes, or moves to the archive, at most `limit` finished jobs whose retention is over. Returns their number. */
  prune(limit: number): Promise<number>;

  /**
   * Deletes at most `limit` stages of jobs that are gone, and ends at most `limit` jobs that no claim, promotion or
   * rescue can find. Returns the larger of both numbers. Each call examines the next part of the tables.
   */
  cleanUp(limit: number): Promise<number>;

  /**
   * Chooses the claim strategy of each queue, after a check of this server. Rejects with InvalidOptionsError if the
   * server does not support a requested strategy.
   */
  chooseStrategies(requested: ReadonlyMap<string, ClaimStrategy | 'auto'>): Promise<ChosenStrategies>;

  close(): Promise<void>;
}
