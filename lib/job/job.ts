import type { JobOverrides } from './enqueue-options.js';
import type { MalformedJobError } from './errors.js';
import type { JobKey } from './job-key.js';
import type { JobState } from './job-state.js';
import type { StoredError } from './stored-error.js';

/** A job on its way into the store: checked and encoded. */
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
}

/** A job that a worker has claimed. `payload` is still encoded: it is decoded where the job starts. */
export interface ClaimedJob {
  readonly id: number;
  readonly queue: string;
  readonly name: string;
  readonly priority: number;
  /** This run's number: 1 for the first. Counted when the job was claimed. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly createdAtMs: number;
  /** When it became due; null if it was due when it was enqueued. */
  readonly dueAtMs: number | null;
  readonly payload: string;
  readonly headers: string | null;
  readonly overrides: JobOverrides | null;
  /** How the run before this one ended, if it failed. */
  readonly lastError: StoredError | null;
  /** A column of the job's row cannot be understood: the job cannot run, and is dead with this error. */
  readonly malformed?: MalformedJobError;
}

/** A job as people look at it, wherever it stands. */
export interface JobRecord<Payload = unknown, Result = unknown> {
  id: number;
  queue: string;
  name: string;
  state: JobState;
  priority: number;
  payload: Payload;
  headers: Record<string, string>;
  /** The `key` it was put in with. */
  key: string | null;
  /** Runs begun so far. */
  attempt: number;
  /** Null until the first claim where `enqueue` did not say. */
  maxAttempts: number | null;
  /** What its run told last with `job.progress()`; null where it told nothing. */
  progress: unknown;
  result: Result | null;
  /** Of the last run that failed; null if the job is completed. */
  error: StoredError | null;
  createdAt: Date;
  /** When a scheduled job is due. */
  runAt: Date | null;
  /**
   * When a job that was delayed, snoozed or retried became due for its last run; null while it is scheduled, and for one that
   * was due when it was enqueued. It has waited since `dueAt ?? createdAt`.
   */
  dueAt: Date | null;
  /** When the last run began. Null where there was none. */
  startedAt: Date | null;
  finishedAt: Date | null;
  /** Id of the worker that has or had the job. */
  worker: string | null;
  /** The owner who holds it, or held it last if it is finished; null if a worker, or a token alone, did. */
  owner: string | null;
}
