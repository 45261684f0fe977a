import type { EntityManager } from 'typeorm';
import type { Delay } from '../../../job/snooze.js';
import type { PagePosition, PageRequest } from '../../../job/page-options.js';
import type { Change } from '../audit/audit-store.js';

/** The claim that must still own the job when a step is stored. */
export interface StepOwner {
  readonly jobId: number;
  readonly claimId: number;
}

/** A remembered step. */
export interface StoredStep {
  /** JSON; null: no value. */
  readonly result: string | null;
  /** `done`: the step has ended. The others end at `untilMs`, or when a signal comes. */
  readonly state: 'done' | 'sleeping' | 'waiting';
  readonly untilMs: number | null;
}

export interface StoredSteps {
  readonly byName: ReadonlyMap<string, StoredStep>;
  /** The time of the database at the read. */
  readonly nowMs: number;
}

/** The end of a sleep or of a wait for a signal, by the clock of the database. */
export interface StepWait {
  readonly untilMs: number;
  readonly nowMs: number;
}

export type SignalWait =
  /** @property data JSON; null: the signal has none */
  | { readonly state: 'signalled'; readonly data: string | null }
  | { readonly state: 'timed-out' }
  | ({ readonly state: 'waiting' } & StepWait);

export interface Signal {
  readonly name: string;
  readonly key: string;
  readonly hash: string;
  /** JSON; null: no value. */
  readonly data: string | null;
}

/** A signal of `QueueProducer.signal`, without its data. */
export interface SignalRecord {
  name: string;
  key: string;
  sentAt: Date;
  /** Jobs that wait for it after this time do not receive it. */
  expiresAt: Date;
  /** Whether a job has received it, or waits for it and is about to receive it. */
  isMatched: boolean;
}

/** The wait of a job that is not finished for a signal. */
export interface WaitRecord {
  jobId: number;
  queue: string;
  jobName: string;
  /** The name of the signal, which is that of the step. */
  name: string;
  /** The key of the signal; null if the wait began before an update of the tables. */
  key: string | null;
  /** The end of the wait if no signal comes. */
  until: Date;
}

/** Selects waits that meet all given conditions. A name with a key is found at once. */
export interface WaitFilter {
  /** The name of the signal. */
  name?: string;
  key?: string;
  queue?: string;
}

/** A step of a job, as QueueAdmin lists it. */
export interface StepRecord {
  name: string;
  /**
   * `done`: the step, the sleep or the wait has ended. `sleeping` until `until`. `waiting`: for the signal with the name of
   * the step and `signalKey`. `timed-out`: no signal came in time.
   */
  state: 'done' | 'sleeping' | 'waiting' | 'timed-out';
  /** The value of the step, or the data of the signal. Null: none. */
  value: unknown;
  /** The end of the sleep, or of the wait if no signal comes; null: the step is neither. */
  until: Date | null;
  /** The key of the signal; null if the step waits for none, or if the wait began before an update of the tables. */
  signalKey: string | null;
}

export interface WokenJob {
  readonly id: number;
  readonly queue: string;
  readonly priority: number;
}

/**
 * Stores the steps of jobs, and the signals that jobs wait for. Verbs with an owner return undefined, and change nothing,
 * if the claim has lost the job. They may be repeated after a lost answer.
 */
export interface StepStore {
  readSteps(jobId: number): Promise<StoredSteps>;

  /** Stores a step that has ended. */
  writeStep(owner: StepOwner, name: string, result: string | null): Promise<true | undefined>;

  /**
   * Runs work in a transaction that also stores the step.
   *
   * @throws LeaseLostError if the claim has lost the job, and TransactionLostError if the work has ended the transaction.
   * The transaction is rolled back
   */
  transactStep<T>(
    owner: StepOwner & { readonly queue: string },
    name: string,
    work: (manager: EntityManager) => Promise<{ value: T; result: string | null }>,
  ): Promise<T>;

  /** Stores the end of a sleep. A stored one stays. */
  startSleep(owner: StepOwner, name: string, until: Delay): Promise<StepWait | undefined>;

  /** Ends the wait if the signal has come or the time is over, else stores it. A stored end of the wait stays. */
  waitForSignal(
    owner: StepOwner,
    name: string,
    signal: Pick<Signal, 'key' | 'hash'>,
    timeoutMs: number,
  ): Promise<SignalWait | undefined>;

  /** Stores a signal. A later one of the same name and key replaces its data. Follow it by `wakeWaiting`. */
  signal(signal: Signal, change?: Change): Promise<void>;

  /**
   * Makes the jobs due that wait for the signal, if it has been sent. It skips jobs that another transaction has locked:
   * `wakeMissed` finds them.
   *
   * @param jobId only this job
   */
  wakeWaiting(hash: string, jobId?: number): Promise<WokenJob[]>;

  /**
   * Like `wakeWaiting`, for all signals: a process may have died before it could wake the jobs. Each call reads up to
   * 100,000 waits, and goes on after those of the previous call.
   */
  wakeMissed(): Promise<WokenJob[]>;

  /** The steps of a job by name. Reads without locks. */
  list(jobId: number, page: PageRequest): Promise<StepRecord[]>;

  /** The signals of the last 30 days, in the order of their times. */
  signals(
    page: PageRequest,
    unmatchedOnly: boolean,
  ): Promise<{ readonly signals: SignalRecord[]; readonly next?: PagePosition }>;

  /** The waits of unfinished jobs for signals, in the order of the signals' hashes. Reads without locks. */
  waits(page: PageRequest, filter: WaitFilter): Promise<{ readonly waits: WaitRecord[]; readonly next?: PagePosition }>;

  /** Deletes the steps of jobs that are gone, and old signals. Returns how many rows it has examined. */
  pruneSteps(limit: number): Promise<number>;
}
