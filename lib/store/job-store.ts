import type { EntityManager, QueryRunner } from 'typeorm';
import type { ClaimStrategy } from '../job/claim-strategy.js';
import type { ClaimedJob, NewJob } from '../job/job.js';
import type { Outcome, Silent, Tried } from '../job/outcome.js';
import type { MaybeLater } from '../job/user-rule.js';
import type { KeyStore } from './key-store.js';

/** The caller's own open transaction. Nothing in it is retried or committed here. */
export type CallerTransaction = EntityManager | QueryRunner;

export interface ClaimRequest {
  /** A random 53-bit number, never used again: the fencing token of every job that the claim takes. */
  readonly claimId: number;
  readonly workerId: string;
  readonly queue: string;
  readonly limit: number;
  readonly order: 'fifo' | 'lifo';
  readonly strategy: ClaimStrategy;
  /** The lock that the claim lasts no longer than; none: it lasts as long as its lease. */
  readonly lockId?: number;
  readonly leaseMs: number;
  /** How many of the jobs may begin before a flush says more. */
  readonly started: number;
  /** For jobs that do not say how often they may be tried. */
  readonly maxAttempts: number;
  /** Kept with the claim: whoever rescues a job of it, and has it die, need not know the queue. See Settlement. */
  readonly deadLetter?: string | false;
  /** The owner for whom a consumer claims. */
  readonly owner?: string;
  /**
   * Whether it is found out what became of the claim where the answer is lost, at the price of a row more that is written. A
   * worker lets such a claim lapse.
   */
  readonly once?: boolean;
  /** Called when the claim is about to choose its jobs; again if its transaction has to be repeated. */
  readonly onChoosing?: () => void;
  /**
   * Called when it has locked them, before it commits: a claim that chooses from then on takes later ones. A strategy that
   * does not know the moment never calls it.
   */
  readonly onLocked?: () => void;
}

/** One claimed job and what became of it. */
export interface Settlement {
  readonly job: ClaimedJob;
  readonly claimId: number;
  /** Null where no worker had it. */
  readonly workerId: string | null;
  /** The owner who held it through QueueConsumer; '' or none: it was held by token alone, or by a worker. */
  readonly owner?: string | null;
  readonly outcome: Outcome;
  /** How long the run took, to tell when it began; null where it did not begin. */
  readonly ranMs: number | null;
  /** How long its queue keeps the finished job in the history; false: not at all. See keptMs. */
  readonly keepMs: number | false;
  /** The queue that a copy of the job goes into where it dies; none: it goes nowhere. */
  readonly deadLetter?: string | false;
}

/** A job that leaves its worker for whoever is given the token. */
export interface HandOff {
  readonly job: ClaimedJob;
  readonly workerId: string;
  /** The claim that has the job. */
  readonly from: number;
  /** The claim that shall have it, and the token: a random 53-bit number, never used again. */
  readonly to: number;
  readonly leaseMs: number;
  /** See ClaimRequest. */
  readonly deadLetter?: string | false;
}

/** What a flush says of a claim, besides the outcomes of its jobs. */
export interface ClaimProgress {
  readonly id: number;
  /** How many jobs at the head of the claim's list may begin from now on. */
  readonly started: number;
  /** No job of the claim is left once this flush has committed. */
  readonly finished: boolean;
}

export interface Flush {
  readonly settlements: readonly Settlement[];
  readonly claims: readonly ClaimProgress[];
  /** The answer to an earlier commit of the same flush was lost: it may have been done. */
  readonly again: boolean;
  /** Some of the jobs were locked by somebody else a moment ago: they are looked at before anything waits for them. */
  readonly wereLocked?: boolean;
  /** Claims whose jobs may have been rescued since: their leases may have lapsed, or their lock may be gone. */
  readonly mayBeTaken: ReadonlySet<number>;
  /** Told, once it has committed, of jobs that were to be sent back and were cancelled instead, as somebody had wished. */
  readonly onCancelled?: (settlements: ReadonlySet<Settlement>) => void;
  /** Told, once it has committed, of claims of which no more may begin: their jobs have been rescued, or may be at any time. */
  readonly onGone?: (claimIds: ReadonlySet<number>) => void;
}

export interface HeldLease {
  readonly claimId: number;
  /** Jobs of the claim that somebody wants cancelled. */
  readonly cancelled: readonly number[];
  /** Somebody keeps the claim locked: its lease holds still, and was not renewed. */
  readonly isLocked?: boolean;
}

export interface Survey {
  /** For each queue asked for: whether it has jobs to claim, and whether it is paused everywhere. */
  readonly queues: ReadonlyMap<string, { readonly waiting: boolean; readonly paused: boolean }>;
  /** Milliseconds until the next scheduled job is due, 0 where one is; null without one. */
  readonly dueInMs: number | null;
  /**
   * Milliseconds until the next lease lapses; null without one. 0 if one has, or if one was written before the server's clock
   * was set back.
   */
  readonly lapseInMs: number | null;
  /** Null where nobody waits for a job to end; another number whenever somebody else begins to. */
  readonly awaited: number | null;
}

/** Times that have not come yet. */
export interface Upcoming {
  /** Milliseconds until the next scheduled job is due; null without one. */
  readonly dueInMs: number | null;
  /** Milliseconds until the next lease lapses; null without one. */
  readonly lapseInMs: number | null;
}

/** A scheduled job that is due. */
export interface PromotedJob {
  readonly id: number;
  readonly queue: string;
  readonly name: string;
  readonly attempt: number;
}

export interface LapsedJob extends Tried, Silent {
  readonly id: number;
  readonly queue: string;
  readonly name: string;
  readonly mayHaveBegun: boolean;
}

export interface Rescued {
  readonly job: LapsedJob;
  readonly outcome: Outcome;
  /** Where a copy of it may have gone, if it died. */
  readonly deadLetter: string | false;
}

export interface RescueRules {
  decide(job: LapsedJob): MaybeLater<Outcome>;
  /** How long the history keeps what is dead or cancelled; false: not at all. */
  keepMs(queue: string): number | false;
}

export interface WorkerEntry {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly queues: readonly string[];
}

export interface ChosenStrategy {
  readonly name: ClaimStrategy;
  /** Its claims wait for nobody: so they may share a transaction with outcomes, which others could have to wait for. */
  readonly mayShare: boolean;
}

export interface ChosenStrategies {
  readonly of: ReadonlyMap<string, ChosenStrategy>;
  /** What is unusual about that, in a sentence for the log. */
  readonly notice?: string;
}

/** Outcomes that cannot be written now, since other transactions have locked their jobs; none of the flush was. */
export class JobsLockedError extends Error {
  constructor(readonly settlements: ReadonlySet<Settlement>) {
    super(`Another transaction has kept ${settlements.size} job(s) locked for seconds.`);
  }
}

/**
 * Where jobs are kept. Every verb is done whole or not at all, and tells the truth under any number of processes. A verb
 * that cannot reach the database rejects with a StoreUnavailableError, and can be asked again.
 */
export interface JobStore extends KeyStore {
  /** Puts jobs in, in the caller's transaction where one is given, and answers their ids in order. */
  enqueue(jobs: readonly NewJob[], transaction?: CallerTransaction): Promise<number[]>;

  /** Acts once the caller's transaction has committed, never if it rolls back; at once where none is open. */
  afterCommit(transaction: CallerTransaction, act: () => void): void;

  /**
   * How many jobs of the queue wait, counted without locks and no further than `most`. Never waits for the caller's
   * transaction to end.
   */
  countWaiting(queue: string, most: number, transaction?: CallerTransaction): Promise<number>;

  /** Looks, without locks, whether there is anything to do. */
  survey(queues: readonly string[]): Promise<Survey>;

  /** For a worker that cannot promote due jobs, or rescue lapsed claims, because other transactions have locked them. */
  upcoming(): Promise<Upcoming>;

  /** Hands out up to `limit` waiting jobs, best first, and marks them active. Two callers never receive the same job. */
  claim(request: ClaimRequest): Promise<ClaimedJob[]>;

  /**
   * Renews the leases of these claims. One that lapsed is not renewed and not answered: its jobs are lost. One that somebody
   * keeps locked does not hold up the others.
   */
  extend(claimIds: readonly number[]): Promise<HeldLease[]>;

  /** The jobs of each claim whose cancellation was requested, without touching the lease. */
  cancelRequests(claimIds: readonly number[]): Promise<ReadonlyMap<number, readonly number[]>>;

  /**
   * Writes outcomes, all in one transaction. Answers those whose job's claim was lost; nothing is done to those jobs. Rejects
   * with JobsLockedError where somebody else has some of the jobs locked.
   */
  settle(flush: Flush): Promise<ReadonlySet<Settlement>>;

  /**
   * Both in one transaction, and one commit: a worker that settles a batch of jobs mostly wants the next. Only with a
   * strategy that may share one.
   */
  settleAndClaim(flush: Flush, request: ClaimRequest): Promise<{ lost: ReadonlySet<Settlement>; jobs: ClaimedJob[] }>;

  /**
   * Runs `work` in a transaction of the application's DataSource and completes the job with its last statements. Rejects
   * with LeaseLostError, and nothing of `work` stays, if the claim was lost; with TransactionLostError, and completes
   * nothing, if the transaction ended before `work` did.
   */
  completeWith<T>(work: (manager: EntityManager) => Promise<{ value: T; settlement: Settlement }>): Promise<T>;

  /** Gives the job a claim of its own, whose id is the token. False, and nothing was done, where its claim was lost. */
  handOff(request: HandOff): Promise<boolean>;

  /** Removes claims none of whose jobs are left; leaves the others to lapse. */
  retire(claimIds: readonly number[]): Promise<void>;

  /**
   * Makes due jobs waiting, at most `limit`; answers how many.
   *
   * @param onPromoted told which, once it has committed
   */
  promote(limit: number, onPromoted?: (jobs: readonly PromotedJob[]) => void): Promise<number>;

  /**
   * Takes jobs from workers that fell silent. A job somebody has locked is left for the next time. A lease that was written
   * before the server's clock was set back lapses its own length from now, unless its worker renews it.
   */
  rescue(rules: RescueRules): Promise<Rescued[]>;

  /** Deletes finished jobs past their retention, or moves them to the archive, at most `limit`; answers how many. */
  prune(limit: number): Promise<number>;

  /**
   * Forgets in which stages jobs stood that are gone, of at most `limit`; answers how many. Looks at a part of those that
   * stand somewhere, and at the next one with the next call.
   */
  sweep(limit: number): Promise<number>;

  /**
   * How the jobs of each queue are to be claimed, after a look at what this very database does. Rejects with
   * InvalidOptionsError where it cannot do what is wished.
   */
  chooseStrategies(wishes: ReadonlyMap<string, ClaimStrategy | 'auto'>): Promise<ChosenStrategies>;

  /** Notes that a worker is there, with the queues it works. */
  enter(worker: WorkerEntry): Promise<void>;

  /** Puts down which queues the worker works from now on. */
  work(workerId: string, queues: readonly string[]): Promise<void>;

  /** Notes that the worker is still there. For people to see: nobody's jobs depend on it. */
  seen(workerId: string): Promise<void>;

  leave(workerId: string): Promise<void>;

  close(): Promise<void>;
}
