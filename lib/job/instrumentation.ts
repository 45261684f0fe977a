import type { JobSchedule } from './schedules/job-schedule.js';
import type { StoredError } from './stored-error.js';

/** Names one attempt of a job. */
export interface AttemptOfJob {
  readonly queue: string;
  readonly name: string;
  readonly jobId: number;
  readonly attempt: number;
}

/** The end of an attempt, after it was stored. */
export interface EndedAttempt extends AttemptOfJob {
  /** `failed`: a retry follows. `dead`: none follows. */
  readonly outcome: 'completed' | 'failed' | 'dead' | 'cancelled' | 'released' | 'snoozed' | 'blocked';
  /**
   * How long the job was due before its handler was called, in milliseconds. Null if no handler of this process was called,
   * as for a job that a consumer has claimed.
   */
  readonly waitMs: number | null;
  /** How long the attempt took, in milliseconds; null if it did not start, or if its worker has crashed. */
  readonly ranMs: number | null;
  readonly error?: StoredError | undefined;
}

/** A job that is about to be stored. */
export interface SentJob {
  readonly queue: string;
  readonly name: string;
  /** The size of the encoded payload in bytes. */
  readonly payloadBytes: number;
  /**
   * The headers of the job. The job gets the headers that an instrumentation sets before it calls `next`, as far as their
   * names are valid and all headers together have at most 16 KiB. Others are left out, and the job is stored.
   */
  readonly headers: Record<string, string>;
}

/** One call that enqueues jobs, after its options and payloads were checked. */
export interface Sending {
  readonly method: 'enqueue' | 'enqueueMany' | 'enqueueStatement' | 'request' | 'publish' | 'flow' | 'fanOut';
  /** The queue of all jobs; null if they are for several queues. */
  readonly queue: string | null;
  readonly jobs: readonly SentJob[];
}

/** A stored job. */
export interface SentJobResult {
  readonly id: number;
  /** `existing`: another job owns the `key`, and nothing was stored. */
  readonly outcome: 'created' | 'existing' | 'replaced';
}

/** A job whose handler is about to be called: the JobContext of the handler. */
export interface JobOfRun {
  readonly id: number;
  readonly queue: string;
  readonly name: string;
  readonly payload: unknown;
  readonly headers: Readonly<Record<string, string>>;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly createdAt: Date;
  readonly startedAt: Date;
  readonly group: string | null;
  readonly schedule: JobSchedule | undefined;
}

/** One call of a handler. */
export interface HandlerRun {
  readonly queue: string;
  /** One job, or the jobs of a batch. */
  readonly jobs: readonly JobOfRun[];
}

/** The end of a job in a run, before it is stored. `handed-off`: the bearer of a token ends the job. */
export interface EndedRun {
  readonly outcome: EndedAttempt['outcome'] | 'handed-off';
  /** The error as it will be stored; undefined if the attempt did not fail. */
  readonly error?: StoredError | undefined;
  /** The value that the handler threw, or the JobTimeoutError; undefined if the attempt did not fail. */
  readonly thrown?: unknown;
}

/** A claim of a worker, or a batch of outcomes. */
export interface DatabaseCall {
  readonly kind: 'claim' | 'complete';
  /** Null if the outcomes are of several queues. */
  readonly queue: string | null;
  /** How many jobs were claimed, or how many outcomes were to be stored. */
  readonly jobs: number;
  /** From the request to the answer, in milliseconds, with all retries. */
  readonly durationMs: number;
  /** Undefined if the call succeeded. */
  readonly error?: unknown;
}

export const INSTRUMENTATION_METHODS = [
  ...(['enqueue', 'run', 'ended', 'leaseLost', 'rescued', 'databaseRetried', 'databaseCalled'] as const),
] satisfies readonly (keyof QueueInstrumentation)[];

/**
 * Observes the jobs of this process, for metrics, traces and error reports. All methods are optional, must be fast, and
 * cannot harm a job: the first error of an instrumentation is logged, later ones are ignored.
 *
 * `enqueue` and `run` surround a call. They call `next` once, before their first `await`, and in the context in which the
 * call shall run. If one returns, throws or awaits before that, the call starts without it. No call starts twice, and the
 * caller gets the value or error of the call itself, whatever the instrumentation returns.
 *
 * @example
 * ```ts
 * const timing: QueueInstrumentation = {
 *   async run({ queue }, next) {
 *     const startedAt = performance.now();
 *     await next();
 *     histogram.record(performance.now() - startedAt, { queue });
 *   },
 * };
 * ```
 */
export interface QueueInstrumentation {
  /**
   * Called around each call that enqueues jobs. `next` stores them, and rejects as the call does. In a caller's transaction
   * the jobs are not committed when it resolves. For `enqueueStatement`, `next` builds the statement and resolves with an
   * empty list, because the application stores the job. Ticks of schedules, `runNow` and dead letters do not call it.
   */
  enqueue?(sending: Sending, next: () => Promise<readonly SentJobResult[]>): unknown;
  /**
   * Called around each call of a handler, with one job or a batch. `next` calls the handler and resolves when the run is
   * over, with one end per job in the order of the jobs. It never rejects. After a timeout the handler may still run.
   */
  run?(run: HandlerRun, next: () => Promise<readonly EndedRun[]>): unknown;
  /** Called at the end of every attempt, when it is stored. */
  ended?(attempt: EndedAttempt): void;
  /** Called when an attempt has ended whose lease was lost: its outcome is not stored, and the job may run elsewhere. */
  leaseLost?(attempt: AttemptOfJob): void;
  /** Called when this process has ended the attempt of a worker or a person whose lease had expired, after `ended`. */
  rescued?(attempt: EndedAttempt): void;
  /** Called when the library repeats a statement or a transaction, with the code of the error: `ER_LOCK_DEADLOCK`. */
  databaseRetried?(code: string): void;
  /** Called after each claim of a worker, and after each batch of outcomes. */
  databaseCalled?(call: DatabaseCall): void;
}
