import type { JobFacts, OrderOf } from '../../job/explain/job-facts.js';
import type { JobRecord, NewJob } from '../../job/job.js';
import type { SuspectFacts, SuspectQueues } from '../../job/problems/problem-facts.js';
import type { JobState } from '../../job/job-state.js';
import type { QueueConfiguration } from '../../job/settings/queue-configuration.js';
import type { Page, PagePosition, PageRequest } from '../../job/page-options.js';
import type { Delay } from '../../job/snooze.js';
import type { Change } from '../features/audit/audit-store.js';
import type { CallerTransaction } from '../core/caller-transaction.js';
import type { KeyedCallResult } from '../features/keys/key-store.js';
import type { EventJob } from '../core/event-outbox.js';
import type { QueueRecord } from '../features/queues/queue-store.js';

/** Selects jobs that meet all given conditions. */
export interface JobFilter {
  queue?: string;
  state?: JobState;
  /** The name of the job. */
  name?: string;
  /** The code or the name of the error of the last failed attempt. */
  error?: string;
  /** The key of the job, also if the job has released it. */
  key?: string;
  /** The group of the job. With a queue and the state `waiting`, an index finds its jobs. */
  group?: string;
  /** The name of the schedule that has enqueued the job. */
  schedule?: string;
  /** A person who has the job, or had it when it ended. */
  owner?: string;
  /** The id of the worker that runs the job, or ran it when it ended. */
  worker?: string;
  /** Headers that the job has, with their values. */
  headers?: Record<string, string>;
  /** Selects jobs that were enqueued at this time or later. */
  createdAfter?: Date;
  /** Selects jobs that were enqueued before this time. */
  createdBefore?: Date;
  /** Selects jobs that finished at this time or later. */
  finishedAfter?: Date;
  /** Selects jobs that finished before this time. */
  finishedBefore?: Date;
}

/** A filter with conditions that only the library sets. */
export interface JobSearch extends JobFilter {
  /** Excludes jobs whose last failed attempt has an error with this code or name. */
  otherThan?: string;
}

/** The state of a job, and its queue. */
export interface StateOfJob {
  id: number;
  queue: string;
  state: JobState;
}

/** A page of a list of jobs. */
export interface JobPage extends Page {
  /**
   * Up to `limit` jobs. A page examines at most 1,000 jobs, so it may have fewer jobs, or none, although there is a
   * `next`.
   */
  jobs: JobRecord[];
}

/** A page as the store returns it. */
export interface FoundJobs<Job> {
  readonly jobs: Job[];
  /** Undefined at the end of the list. */
  readonly next?: PagePosition;
}

/** The number of jobs in each state. Each job is counted once. */
export interface JobCounts extends Record<JobState, number> {
  /** Jobs that a worker can claim now. */
  waiting: number;
  /** Jobs that wait in a stage for `QueueConsumer.claim`. Their state is `waiting`. */
  staged: number;
  /** Jobs that a worker has prefetched and not started. Their state is `active`. */
  prefetched: number;
  /**
   * Running jobs and assigned jobs. It is an upper bound: a worker records the jobs of a claim that it may start before
   * it starts them. The difference is at most the number of its slots.
   */
  active: number;
}

/** A log line of an attempt. */
export interface LogLine {
  /** 1 for the job's first line. */
  number: number;
  at: Date;
  line: string;
}

/** A page of the log lines of a job. */
export interface LogPage extends Page {
  lines: LogLine[];
}

/** A queue of a worker. */
export interface WorkerQueue {
  queue: string;
  /** How many calls of its handlers may run at once in this worker. A call of `handleBatch` gets several jobs. */
  slots: number;
  /** The jobs that the worker has started. */
  running: number;
  /** The jobs that it has claimed and not started. */
  prefetched: number;
}

export interface WorkerRecord {
  id: string;
  host: string;
  pid: number;
  /** The queues that the worker serves. */
  queues: WorkerQueue[];
  /** The option `worker.concurrency`: the calls of handlers that may run at once over all queues; null: no limit. */
  slots: number | null;
  /** The queues for which the process had a handler when it started, and which its option `worker.queues` excludes. */
  excluded: string[];
  startedAt: Date;
  /** The time of the last heartbeat. */
  seenAt: Date;
  /** It has sent no heartbeat for a minute, by the clock of the database: the process has crashed, or hangs. */
  isSilent: boolean;
}

export interface Replay {
  /** The new queue; undefined: each job keeps its own. */
  readonly to: string | undefined;
  /** The delay of the first job, and the time between two jobs, in milliseconds. */
  readonly firstMs: number;
  readonly intervalMs: number;
  /** Whether completed jobs start anew, too. */
  readonly completed: boolean;
}

/** The new values of columns of a job. The others stay. */
export interface JobEdit {
  /** Encoded. The job starts anew from it. */
  readonly payload?: string;
  /** The job goes on after the steps that have ended with its old payload. */
  readonly keepsSteps?: boolean;
  readonly headers?: string | null;
  readonly priority?: number;
  readonly delay?: Delay;
}

/** The group of a job that has left its claim in a transaction of the caller. Call `GroupStore.wake` after the commit. */
interface LeftGroup {
  readonly leftGroup?: { readonly queue: string; readonly group: string };
}

/** `too-late`: the job is finished or unknown. */
export type CancelResult =
  | ({ state: 'cancelled'; isInFlow?: true } & LeftGroup)
  | { state: 'requested'; workerId: string; queue: string }
  | { state: 'too-late' };

export interface ReleasedJob extends EventJob, LeftGroup {
  readonly workerId: string;
  /** The person who had the job; null if a worker had it. */
  readonly owner: string | null;
}

/** Reads and changes jobs of all processes. */
export interface AdminStore {
  counts(queue?: string): Promise<JobCounts>;
  /** @param transaction reads its changes, too */
  get(id: number, transaction?: CallerTransaction): Promise<JobRecord | null>;
  /** The states of those of the jobs that exist, in no order. See `findIds` for `transaction`. */
  states(ids: readonly number[], transaction?: CallerTransaction): Promise<StateOfJob[]>;
  /** What the database knows about the reasons why the job does not run. Null if it does not exist. */
  facts(id: number, orderOf: OrderOf): Promise<JobFacts | null>;
  /** The facts about problems beside the statistics. */
  problemFacts(suspects: SuspectQueues): Promise<SuspectFacts>;
  /** Jobs by id; with the state `scheduled`, by their due time. */
  find(search: JobSearch, page: PageRequest): Promise<FoundJobs<JobRecord>>;
  /** @param transaction the search reads what it reads */
  findIds(search: JobSearch, page: PageRequest, transaction?: CallerTransaction): Promise<FoundJobs<number>>;
  logs(id: number, page: PageRequest): Promise<LogLine[]>;
  queues(): Promise<QueueRecord[]>;
  /**
   * Whether the queue has jobs, a history, settings, limits, groups, subscriptions, schedules or a worker.
   *
   * @param transaction its changes count, too
   */
  hasQueue(queue: string, transaction?: CallerTransaction): Promise<boolean>;
  /** The names of these queues. */
  queueNames(): Promise<string[]>;
  workers(): Promise<WorkerRecord[]>;
  /** Pauses or resumes all of the queues, in one transaction. */
  setPaused(queues: readonly string[], paused: boolean, change?: Change): Promise<void>;
  /** Stores settings of the queue for all processes. Null: all are as in the options again. */
  configure(queue: string, given: QueueConfiguration | null, change?: Change): Promise<void>;
  /**
   * Cancels a job that no worker runs. For a running job it stores a cancellation request, which the worker reads with
   * its next heartbeat.
   *
   * @param filter cancels only an active job whose queue and holder match
   */
  cancel(
    id: number,
    retentionMs: (queue: string) => number | false,
    change?: Change,
    filter?: JobSearch,
  ): Promise<CancelResult>;
  /** Takes an active job from its claim: it waits again, and its attempt does not count. Undefined if it is not active. */
  release(id: number, change?: Change): Promise<ReleasedJob | undefined>;
  /**
   * Cancels those of the jobs that no claim has. Returns them.
   *
   * @param filter the one that the jobs matched when their ids were read: a job that matches it no more stays as it is
   */
  cancelIdle(
    ids: readonly number[],
    retentionMs: (queue: string) => number | false,
    change?: Change,
    filter?: JobSearch,
  ): Promise<readonly EventJob[]>;
  /** Makes scheduled jobs due. Returns the ids of the changed jobs. See `cancelIdle` for `filter`. */
  promote(ids: readonly number[], change?: Change, filter?: JobSearch): Promise<number[]>;
  /**
   * Starts dead and cancelled jobs anew and makes scheduled jobs due. Returns the ids of the changed jobs. See
   * `cancelIdle` for `filter`.
   */
  retry(ids: readonly number[], change?: Change, filter?: JobSearch): Promise<number[]>;
  /**
   * Starts finished jobs anew, in the order of ids. Returns the ids of the changed jobs. See `cancelIdle` for `filter`.
   */
  replay(ids: readonly number[], replay: Replay, change?: Change, filter?: JobSearch): Promise<number[]>;
  /**
   * Changes a job that no claim has. Returns whether it did: not if the job is unknown, or blocked and to be scheduled.
   *
   * @param queue the job must be in this queue. Undefined: in any
   */
  edit(id: number, queue: string | undefined, edit: JobEdit, change?: Change): Promise<boolean>;
  /**
   * A new job like this one, without its key and its flow, and with the delay of a job of a flow. Undefined if the job does
   * not exist or its row is malformed.
   */
  copyOf(id: number, transaction?: CallerTransaction): Promise<NewJob | undefined>;
  /** Enqueues the job exactly once. Returns its id. */
  enqueueCopy(job: NewJob, change?: Change): Promise<number>;
  /** Enqueues a job with a key exactly once. See KeyStore.enqueueKeyed for the answers. */
  enqueueKeyed(job: NewJob, change?: Omit<Change, 'transaction'>): Promise<KeyedCallResult>;
  /** Deletes a queue without jobs, and all other rows that belong to it. May be repeated. */
  eraseQueue(queue: string, change?: Change): Promise<void>;
  /** Deletes jobs that are not active, and all that they have stored. Returns their ids. See `cancelIdle` for `filter`. */
  remove(ids: readonly number[], change?: Change, filter?: JobSearch): Promise<number[]>;
}
