import type { EntityManager } from 'typeorm';
import { InvalidOptionsError } from '../../job/errors.js';
import { unknownKeys } from '../../job/expectation.js';
import { DEFAULT_ASSIGNMENT_LEASE, leaseProblem } from '../../job/lease.js';
import type { Outcome } from '../../job/outcome.js';
import type { JobSchedule } from '../../job/schedules/schedule.js';
import { snoozeProblem, type SnoozeUntil } from '../../job/snooze.js';
import { toMs, type Duration } from '../../common/duration.js';
import type { JobLogger } from '../../common/job-logger.js';

/** A job that a handler has handed off. `QueueConsumer` ends it by id and token, in any process. */
export interface HandedOffJob {
  readonly id: number;
  readonly token: string;
}

export interface JobContextFields<P> {
  readonly id: number;
  readonly queue: string;
  readonly name: string;
  readonly payload: P;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly createdAt: Date;
  readonly startedAt: Date;
  readonly headers: Readonly<Record<string, string>>;
  readonly schedule: JobSchedule | undefined;
  readonly logger: JobLogger;
}

export interface JobActions {
  readonly signal: AbortSignal;
  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T>;
  handOff(leaseMs: number): Promise<HandedOffJob>;
  progress(value: unknown): void;
  log(line: string): void;
  /** Sets the outcome, so that it applies even if the handler or an exception filter catches the HandlerExit. */
  decide(outcome: HandlerOutcome): void;
}

export type HandlerOutcome =
  Outcome | { kind: 'snooze until' | 'rest until'; until: SnoozeUntil } | { kind: 'discard'; reason: string };

/** Thrown by `release()`, `snooze()` and `discard()` to leave the handler. Do not catch it. */
export class HandlerExit extends Error {
  override readonly name = 'HandlerExit';
}

/**
 * One run of one job: its properties, and the actions of its handler.
 *
 * @example
 * ```ts
 * @QueueProcessor('email.send')
 * async send(job: JobContext<{ to: string }>) {
 *   await this.mailer.send(job.payload.to, { signal: job.signal });
 * }
 * ```
 */
export class JobContext<P = unknown, R = unknown> {
  readonly id: number;
  readonly queue: string;
  readonly name: string;
  readonly payload: P;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** The time at which the job was enqueued, by the clock of the database. */
  readonly createdAt: Date;
  readonly startedAt: Date;
  readonly headers: Readonly<Record<string, string>>;
  /** The tick that has enqueued the job; undefined if no schedule did. */
  readonly schedule: JobSchedule | undefined;
  readonly logger: JobLogger;
  readonly #actions: JobActions;

  /** @internal `createJobContext` makes one for tests. */
  constructor(fields: JobContextFields<P>, actions: JobActions) {
    this.id = fields.id;
    this.queue = fields.queue;
    this.name = fields.name;
    this.payload = fields.payload;
    this.attempt = fields.attempt;
    this.maxAttempts = fields.maxAttempts;
    this.createdAt = fields.createdAt;
    this.startedAt = fields.startedAt;
    this.headers = fields.headers;
    this.schedule = fields.schedule;
    this.logger = fields.logger;
    this.#actions = actions;
  }

  /** Aborted on timeout, cancellation, shutdown and loss of the lease. `signal.reason` is the typed error. */
  get signal(): AbortSignal {
    return this.#actions.signal;
  }

  /** Whether a failure of this attempt makes the job dead. */
  get isLastAttempt(): boolean {
    return this.attempt >= this.maxAttempts;
  }

  /**
   * Runs `work` in a database transaction that also completes this job: its writes and the completion commit together
   * or not at all. The value of `work` is the result of the job. Errors that the handler throws afterwards are only
   * logged. Allowed once per run.
   *
   * @throws LeaseLostError if another worker may have the job. Nothing is written
   * @throws TransactionLostError if `work` ends the transaction itself (COMMIT, ROLLBACK, DDL) or catches the error of
   *   a deadlock. The job is not completed, and the attempt has failed
   */
  transaction<T extends R>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.#actions.transaction(work);
  }

  /**
   * Leaves the job open after this run: the bearer of the token completes, fails or extends it with QueueConsumer. From
   * now on the job does not depend on the value or error of the handler. If the lease expires first, the attempt has
   * failed and the job is retried. Allowed once per run, and not together with `transaction()`.
   *
   * @throws LeaseLostError if another worker may have the job. Nothing is changed
   * @throws JobCancelledError if the cancellation of the job was requested
   * @example
   * ```ts
   * const open = await job.handOff({ lease: '2h' }); // 1s or more, default 15m
   * await this.printer.print(job.payload, { callback: `${this.url}/printed/${open.id}/${open.token}` });
   * ```
   */
  async handOff({ lease = DEFAULT_ASSIGNMENT_LEASE, ...unknown }: { lease?: Duration } = {}): Promise<HandedOffJob> {
    InvalidOptionsError.throwIfAny('Cannot hand off', [...unknownKeys(unknown, ['lease']), leaseProblem(lease)]);
    return this.#actions.handOff(toMs(lease)!);
  }

  /**
   * Reports the progress of the run: any value that JSON can represent. Callers that wait for the job (`onProgress`)
   * and QueueAdmin.get() receive the last value. If values follow fast, they are stored every half second.
   *
   * @throws PayloadInvalidError if JSON cannot represent the value
   * @throws PayloadTooLargeError if the value exceeds the queue's limit for payloads
   */
  progress(value: unknown): void {
    this.#actions.progress(value);
  }

  /**
   * Stores a line of up to 4,000 characters with the job. QueueAdmin.logs() returns the first thousand lines of a job.
   * Lines are lost if the database is unavailable or the lease is lost.
   */
  log(line: string): void {
    this.#actions.log(String(line));
  }

  /** Returns the job to waiting at once. The attempt is not counted. */
  release(): never {
    return this.#exit({ kind: 'release' }, 'released');
  }

  /** Releases the job until a date, or for a duration from now. The attempt is not counted. */
  snooze(until: SnoozeUntil): never {
    InvalidOptionsError.throwIfAny('Cannot snooze', [snoozeProblem(until)]);
    return this.#exit({ kind: 'snooze until', until }, `snoozed ${describeUntil(until)}`);
  }

  /**
   * Releases the job, and lets its queue rest in all processes until a date, or for a duration from now: for the answer
   * 429 of an API. The attempt is not counted. Jobs that run already continue.
   */
  rateLimit(until: SnoozeUntil): never {
    InvalidOptionsError.throwIfAny('Cannot let the queue rest', [snoozeProblem(until)]);
    return this.#exit({ kind: 'rest until', until }, `released, and its queue rests ${describeUntil(until)}`);
  }

  /** Ends the job as dead, whatever attempts remain. */
  discard(reason: string): never {
    return this.#exit({ kind: 'discard', reason: String(reason) }, `discarded: ${reason}`);
  }

  #exit(outcome: HandlerOutcome, description: string): never {
    this.#actions.decide(outcome);
    throw new HandlerExit(`Job ${this.id} of queue "${this.queue}" was ${description}.`);
  }
}

function describeUntil(until: SnoozeUntil): string {
  return until instanceof Date ? `until ${until.toISOString()}` : `for ${toMs(until)} ms`;
}
