import type { JobSchedule } from './schedules/job-schedule.js';
import type { AttemptError, StoredError } from './stored-error.js';
import type { MalformedJobError, UndecodableContentError } from './errors.js';
import type { JobKey } from './job-key.js';
import type { JobOverrides } from './job-overrides.js';
import type { JobState } from './job-state.js';

/** A checked and encoded job that is to be stored. */
export interface NewJob {
  readonly queue: string;
  readonly name: string;
  readonly payload: string;
  readonly priority: number;
  readonly delayMs: number | null;
  readonly runAtMs: number | null;
  readonly maxAttempts: number | null;
  readonly headers: string | null;
  readonly overrides: string | null;
  readonly key?: JobKey | undefined;
  /** Undefined: none. */
  readonly group?: string | undefined;
  /** A copy of that in the overrides. Undefined: none. */
  readonly subject?: string | undefined;
  /** It waits for other jobs of its flow. `delayMs` and `runAtMs` are in its overrides. */
  readonly isBlocked?: true | undefined;
}

/** `payload` is encoded until the job starts. */
export interface ClaimedJob {
  readonly id: number;
  readonly queue: string;
  readonly name: string;
  readonly priority: number;
  /** The number of this run, from 1. The claim counts it. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly createdAtMs: number;
  /** When the job became due; null if it was due when it was enqueued. */
  readonly dueAtMs: number | null;
  readonly payload: string;
  readonly headers: string | null;
  readonly overrides: JobOverrides | null;
  /** The error of the previous run; null if that did not fail. */
  readonly lastError: StoredError | null;
  /** The errors of the attempts before, oldest first. */
  readonly errors: readonly AttemptError[];
  /** Null without a group. */
  readonly group: string | null;
  /** False: its group has no limit, so that its end makes no room for another job. */
  readonly countsInGroup?: false;
  /** No worker has started the job within its `expiresIn`. */
  readonly isExpired?: true;
  /** A column of the row is invalid, or cannot be decoded: the job cannot run, and becomes dead with this error. */
  readonly malformed?: MalformedJobError | UndecodableContentError;
}

/** A job in any state, as QueueAdmin and QueueConsumer return it. */
export interface JobRecord<Payload = unknown, Result = unknown> {
  id: number;
  queue: string;
  name: string;
  state: JobState;
  priority: number;
  payload: Payload;
  headers: Record<string, string>;
  /** The `key` of the job; null without one. */
  key: string | null;
  /** The `group` of the job; null without one. */
  group: string | null;
  /** The id of the flow of the job; null without one. */
  flow: number | null;
  /** The tick, or the call of `runNow`, that has enqueued the job; null for a job without a schedule. */
  schedule: JobSchedule | null;
  /** Runs started so far that count as attempts. */
  attempt: number;
  /** The limit of attempts; null until the first claim if `enqueue` did not set it. */
  maxAttempts: number | null;
  /** The last value of `job.progress()`; null without one. */
  progress: unknown;
  result: Result | null;
  /** The error of the last failed run; null if the job is completed. */
  error: StoredError | null;
  /** The errors of the last 25 failed attempts, oldest first, also of a completed job. */
  errors: readonly AttemptError[];
  createdAt: Date;
  /** When a scheduled job is due. */
  runAt: Date | null;
  /**
   * When a delayed, snoozed or retried job became due for its last run. Null while it is scheduled, and for a job that
   * was due when it was enqueued. The job has waited since `dueAt ?? createdAt`.
   */
  dueAt: Date | null;
  /** When the last run started; null without a run. */
  startedAt: Date | null;
  finishedAt: Date | null;
  /** The id of the worker that runs the job or ran it last. */
  worker: string | null;
  /** The owner that holds the job, or held it last if it is finished; null for a worker or for a token alone. */
  owner: string | null;
}
