import type { EntityManager } from 'typeorm';
import { InvalidOptionsError } from '../job/errors.js';
import { unknownKeys } from '../job/expectation.js';
import { DEFAULT_HOLD, leaseProblem } from '../job/lease.js';
import type { Outcome } from '../job/outcome.js';
import { snoozeProblem, type SnoozeUntil } from '../job/snooze.js';
import { toMs, type Duration } from '../time/duration.js';
import type { JobLogger } from './job-logger.js';

/** A job that is left open: `QueueConsumer` ends it by id and token, from any process. */
export interface HandedOff {
  readonly id: number;
  readonly token: string;
}

/** What a context tells of its job. */
export interface JobFacts<P> {
  readonly id: number;
  readonly queue: string;
  readonly name: string;
  readonly payload: P;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly createdAt: Date;
  readonly startedAt: Date;
  readonly headers: Readonly<Record<string, string>>;
  readonly logger: JobLogger;
}

/** What a handler can do about its job by way of the context. */
export interface JobActions {
  readonly signal: AbortSignal;
  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T>;
  handOff(leaseMs: number): Promise<HandedOff>;
  progress(value: unknown): void;
  log(line: string): void;
  /** Notes the verdict, so that it stands even where a handler or a filter swallows what is thrown. */
  decide(verdict: Verdict): void;
}

export type Verdict = Outcome | { kind: 'put off'; until: SnoozeUntil } | { kind: 'discard'; reason: string };

/**
 * Thrown by `release()`, `snooze()` and `discard()` to leave the handler. Let it pass.
 */
export class JobVerdict extends Error {
  override readonly name = 'JobVerdict';
}

/**
 * One run of one job, as its handler sees it.
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
  /** This run's number, 1 for the first. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** When the job was enqueued, by the database's clock. */
  readonly createdAt: Date;
  readonly startedAt: Date;
  readonly headers: Readonly<Record<string, string>>;
  readonly logger: JobLogger;
  readonly #actions: JobActions;

  /** @internal `createJobContext` makes one for tests. */
  constructor(facts: JobFacts<P>, actions: JobActions) {
    this.id = facts.id;
    this.queue = facts.queue;
    this.name = facts.name;
    this.payload = facts.payload;
    this.attempt = facts.attempt;
    this.maxAttempts = facts.maxAttempts;
    this.createdAt = facts.createdAt;
    this.startedAt = facts.startedAt;
    this.headers = facts.headers;
    this.logger = facts.logger;
    this.#actions = actions;
  }

  /** Aborted on timeout, cancel, shutdown and when the lease is lost; `signal.reason` is the typed error. */
  get signal(): AbortSignal {
    return this.#actions.signal;
  }

  /** Whether a failure now is final. */
  get isLastAttempt(): boolean {
    return this.attempt >= this.maxAttempts;
  }

  /**
   * Runs `work` in a database transaction that also completes this job: its writes and the completion commit together or
   * not at all. The value is the job's result; what the handler throws later is only logged. Once per run. Rejects with
   * LeaseLostError, and nothing is written, where another worker may have the job. If `work` ends the transaction itself (COMMIT,
   * ROLLBACK, DDL) or catches the error of a deadlock, it rejects with TransactionLostError: the job is not completed, and the
   * run has failed.
   */
  transaction<T extends R>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.#actions.transaction(work);
  }

  /**
   * Leaves the job open and gives it away, at once: whoever is given the token completes, fails or extends it with
   * QueueConsumer. The run ends when the handler does, whatever it returns or throws then. Without a word the attempt has
   * failed when the lease lapses, and the job is tried again. Once per run, and not beside `transaction()`. Rejects with
   * LeaseLostError, and nothing is changed, where another worker may have the job, and with JobCancelledError where somebody
   * wants it cancelled.
   *
   * @example
   * ```ts
   * const open = await job.handOff({ lease: '2h' }); // 1s or more, default 15m
   * await this.printer.print(job.payload, { callback: `${this.url}/printed/${open.id}/${open.token}` });
   * ```
   */
  async handOff({ lease = DEFAULT_HOLD, ...unknown }: { lease?: Duration } = {}): Promise<HandedOff> {
    InvalidOptionsError.throwIfAny('Cannot hand off', [...unknownKeys(unknown, ['lease']), leaseProblem(lease)]);
    return this.#actions.handOff(toMs(lease)!);
  }

  /**
   * Tells how far the run is: any value that JSON can carry. Whoever waits for the job (`onProgress`) and QueueAdmin.get() see
   * the last one, half a second later at the most where many come. Throws PayloadInvalidError or PayloadTooLargeError.
   */
  progress(value: unknown): void {
    this.#actions.progress(value);
  }

  /**
   * Notes a line with the job, of 4,000 characters at the most; QueueAdmin.logs() has the first thousand of a job. For people to
   * read: what cannot be written, since the database is away or the lease is lost, is left out.
   */
  log(line: string): void {
    this.#actions.log(String(line));
  }

  /** Back to waiting, at once; the attempt is not counted. */
  release(): never {
    return this.#leave({ kind: 'release' }, 'released');
  }

  /** Puts the job off: it is claimed again so long from now, or at a date, at the earliest. The attempt is not counted. */
  snooze(until: SnoozeUntil): never {
    InvalidOptionsError.throwIfAny('Cannot snooze', [snoozeProblem(until)]);
    const when = until instanceof Date ? `until ${until.toISOString()}` : `for ${toMs(until)} ms`;
    return this.#leave({ kind: 'put off', until }, `snoozed ${when}`);
  }

  /** Dead now, whatever attempts are left. */
  discard(reason: string): never {
    return this.#leave({ kind: 'discard', reason: String(reason) }, `discarded: ${reason}`);
  }

  #leave(verdict: Verdict, what: string): never {
    this.#actions.decide(verdict);
    throw new JobVerdict(`Job ${this.id} of queue "${this.queue}" was ${what}.`);
  }
}
