import type { JobRecord } from '../job/job.js';
import type { JobState } from '../job/job-state.js';
import type { PageRequest, Position } from '../job/page-options.js';

/** Which jobs are meant. What is left out matches all. */
export interface JobFilter {
  queue?: string;
  state?: JobState;
  name?: string;
  /** Code or name of the error of the last run that failed. */
  error?: string;
  /** Finished jobs only: at this time or later. */
  finishedAfter?: Date;
  /** Finished jobs only: before this time. */
  finishedBefore?: Date;
}

/** The same as the store is asked. */
export interface JobSearch extends JobFilter {
  /** Not those that failed by this error, code or name. */
  otherThan?: string;
}

/** A page of a list of jobs. */
export interface JobPage {
  /**
   * Up to `limit` jobs. Fewer, even none, if the filter leaves out many: 5,000 jobs are looked at for a page. There may be more
   * as long as there is a `next`.
   */
  jobs: JobRecord[];
  /** The `after` of the next page; none at the end of the list. */
  next?: string;
}

/** A page as the store answers it. */
export interface Found<Job> {
  readonly jobs: Job[];
  /** Where the next page begins; none at the end of the list. */
  readonly next?: Position;
}

/** How many jobs there are. Each job is counted once. */
export interface JobCounts extends Record<JobState, number> {
  /** Jobs that a worker may claim. */
  waiting: number;
  /** Jobs that wait in a stage, for `QueueConsumer.claim` with that stage. */
  staged: number;
  /** Jobs that a worker has claimed ahead and not begun. Their state is `active`. */
  prefetched: number;
  /**
   * Claimed jobs that run, and jobs in the hands of a consumer. At most: a worker writes how far it may go in a claim before
   * it goes there, up to as many jobs as it has slots.
   */
  active: number;
}

/** A line that a job's run has logged. */
export interface LogLine {
  /** 1 for the job's first line. */
  number: number;
  at: Date;
  line: string;
}

/** A page of the lines of a job. */
export interface LogPage {
  lines: LogLine[];
  /** The `after` of the next page; none at the end of the list. */
  next?: string;
}

export interface QueueRecord {
  queue: string;
  paused: boolean;
  /** How long a temporary queue stays while it is empty and nobody works it; null: for good. */
  expiresAfterMs: number | null;
}

export interface WorkerRecord {
  id: string;
  host: string;
  pid: number;
  queues: string[];
  startedAt: Date;
  seenAt: Date;
}

/** How jobs start anew. */
export interface Replay {
  /** In this queue; undefined: in their own. */
  readonly to: string | undefined;
  /** When the first of them is due, and how much later each of the others. */
  readonly firstMs: number;
  readonly everyMs: number;
}

/** What became of a wish to cancel a job. */
export type CancelAnswer = { state: 'cancelled' } | { state: 'requested'; workerId: string } | { state: 'too-late' };

/** Looking at jobs and steering them, from any process. */
export interface AdminStore {
  counts(queue?: string): Promise<JobCounts>;
  get(id: number): Promise<JobRecord | null>;
  /** By id; jobs in the state `scheduled` by the time at which they are due. */
  find(search: JobSearch, page: PageRequest): Promise<Found<JobRecord>>;
  /** Only their ids. */
  findIds(search: JobSearch, page: PageRequest): Promise<Found<number>>;
  logs(id: number, page: PageRequest): Promise<LogLine[]>;
  queues(): Promise<QueueRecord[]>;
  workers(): Promise<WorkerRecord[]>;
  setPaused(queue: string, paused: boolean): Promise<void>;
  /** A job no worker runs is cancelled at once; of one that a worker runs the worker is told with its next heartbeat. */
  cancel(id: number, keepMs: (queue: string) => number | false): Promise<CancelAnswer>;
  /** Dead and cancelled jobs start anew with their old id, scheduled ones become due. Answers the ids of those it moved. */
  retry(ids: readonly number[]): Promise<number[]>;
  /** The same for dead and cancelled ones alone, in the order of ids. */
  replay(ids: readonly number[], replay: Replay): Promise<number[]>;
  /** Removes jobs that are not active. Answers the ids of those that are gone. */
  remove(ids: readonly number[]): Promise<number[]>;
}
