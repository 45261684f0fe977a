import type { EntityManager } from 'typeorm';
import type { MaybePromise } from '../../common/maybe-promise.js';
import { messageOf } from '../../common/message-text.js';
import {
  hasCode,
  InvalidOptionsError,
  MalformedJobError,
  PayloadInvalidError,
  type ContentUnavailableError,
} from '../../job/errors.js';
import type { FlowChild } from '../../job/flows/flow-record.js';
import type { FanOutOptions } from '../../job/flows/flow-options.js';
import type { ClaimedJob } from '../../job/job.js';
import { readHeaders } from '../../job/json.js';
import { HAND_OFF_OPTIONS } from '../../job/lease.js';
import { checkAndResolve } from '../../job/option-schema.js';
import type { Outcome } from '../../job/outcome.js';
import { checkPayload } from '../../job/job-content.js';
import type { PayloadOf, QueueName } from '../../job/queue-jobs.js';
import type { ResolvedQueueOptions } from '../../job/queue-options.js';
import { toJobSchedule, type JobSchedule } from '../../job/schedules/job-schedule.js';
import { resolveSignalOptions, signalHash, type SignalOptions } from '../../job/signal.js';
import { describeUntil, snoozeProblem, type SnoozeUntil } from '../../job/snooze.js';
import { storedError } from '../../job/stored-error.js';
import { HandlerExit, type HandedOffJob, type HandlerActions, type HandlerOutcome } from './handler-actions.js';
import { stepProblems, type StepArguments } from './job-steps.js';
import type { Duration } from '../../common/units.js';
import type { JobLogger } from '../../common/logger.js';

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
  /** The start of this run, by the clock of this process. */
  readonly startedAt: Date;
  readonly headers: Readonly<Record<string, string>>;
  /** The tick that has enqueued the job; undefined if no schedule did. */
  readonly schedule: JobSchedule | undefined;
  /** The group of the job; null without one. */
  readonly group: string | null;
  readonly #actions: HandlerActions;

  /** @internal `createJobContext` makes one for tests. */
  constructor(fields: JobContextFields<P>, actions: HandlerActions) {
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
    this.group = fields.group;
    this.#actions = actions;
  }

  /** Logs to the logger of the module, with the job as parameters of each line. */
  get logger(): JobLogger {
    return this.#actions.logger;
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
   * or not at all. Its value is the result of the job. Errors that the handler throws afterwards are only logged. Once per run.
   *
   * @throws LeaseLostError if another worker may have the job. Nothing is written
   * @throws TransactionLostError if `work` ends the transaction itself (COMMIT, ROLLBACK, DDL) or catches the error of
   *   a deadlock. The job is not completed, and the attempt has failed
   */
  transaction<T extends R>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.#call('transaction()', () => this.#actions.transaction(work));
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
  handOff(options: { lease?: Duration } = {}): Promise<HandedOffJob> {
    const resolve = () => checkAndResolve('Cannot hand off', HAND_OFF_OPTIONS, options);
    return this.#call('handOff()', async () => this.#actions.handOff(resolve().lease));
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

  /**
   * Runs `work` once and remembers its value, across all attempts of the job: if a later part of the handler fails, or its
   * process dies, the next run skips the step and gets the value. The value is what JSON keeps of it. If the process dies
   * before the value is stored, the step runs again: use `stepKey(name)` as the idempotency key of other systems.
   *
   * With `{ transaction: true }` the work runs in a database transaction that also stores the step: its writes happen
   * exactly once.
   *
   * Steps run one after the other. Their names are unique in the handler; in a loop add the index. Changing the code of a
   * step that has run has no effect on the jobs that have passed it.
   *
   * @throws DuplicateStepError if the run has used the name
   * @throws StepNotAllowedError if another step of the run has not ended, or the run is over
   * @throws LeaseLostError if another worker may have the job. Nothing is stored
   * @throws PayloadInvalidError or PayloadTooLargeError if the value cannot be stored as JSON
   * @example
   * ```ts
   * const charge = await job.step('charge', () => stripe.charge(order, { idempotencyKey: job.stepKey('charge') }));
   * await job.step('ledger', { transaction: true }, (manager) => manager.insert(Entry, { charge: charge.id }));
   * ```
   */
  step<T>(name: string, work: () => T | Promise<T>): Promise<T>;
  step<T>(name: string, options: { transaction: true }, work: (manager: EntityManager) => Promise<T>): Promise<T>;
  step<T>(name: string, ...args: StepArguments<T>): Promise<T> {
    return this.#call(`step("${name}")`, async () => {
      InvalidOptionsError.throwIfAny('Invalid step', stepProblems(args));
      const { steps } = this.#actions;
      return args.length === 1 ? steps.run(name, args[0]) : steps.runInTransaction(name, args[1]);
    });
  }

  /** A text that is the same in all runs of this step, until the job starts anew: an idempotency key for other systems. */
  stepKey(name: string): string {
    return this.#actions.stepKey(name);
  }

  /**
   * A step that lasts until a date, or for a duration from its first run. The job leaves its slot: the run ends here, and
   * the handler starts again when the time is over, without a counted attempt. Steps before it are remembered.
   */
  sleep(name: string, until: SnoozeUntil): Promise<void> {
    return this.#call(`sleep("${name}")`, async () => {
      InvalidOptionsError.throwIfAny('Cannot sleep', [snoozeProblem(until)]);
      const rest = await this.#actions.steps.sleep(name, until);
      if (rest) this.#exit({ kind: 'snooze', ...rest }, `put to sleep in step "${name}"`);
    });
  }

  /**
   * A step that waits for a signal of `QueueProducer.signal(name, key, data)`, and returns its data; undefined after the
   * timeout. A signal of the last 30 days counts, also if it was sent before. The job leaves its slot as in `sleep`.
   */
  waitFor<T = unknown>(name: string, options: SignalOptions): Promise<T | undefined> {
    return this.#call(`waitFor("${name}")`, async () => {
      const { key, timeout } = resolveSignalOptions(name, options);
      const signal = signalHash(name, key);
      const wait = await this.#actions.steps.waitForSignal(name, { key, hash: signal }, timeout);
      if (wait.state === 'timed-out') return undefined;
      if (wait.state === 'signalled') return (wait.data === null ? null : JSON.parse(wait.data)) as T;
      const { untilMs, nowMs } = wait;
      return this.#exit({ kind: 'snooze', delayMs: untilMs - nowMs, untilMs, signal }, `waiting for signal "${name}"`);
    });
  }

  /**
   * The jobs that this job has waited for, by id: those of its flow, and those of `fanOut`. Reads 500 at a time.
   * @example for await (const part of job.children<{ url: string }>()) urls.push(part.result!.url);
   */
  children<Result = unknown>(): AsyncIterable<FlowChild<Result>> {
    return this.#actions.children.read() as AsyncIterable<FlowChild<Result>>;
  }

  /**
   * Enqueues one job for each payload, and waits for all of them: the job leaves its slot and is `blocked`, and the handler
   * starts again when they have ended, without a counted attempt. That run passes this line; steps before it are
   * remembered. With `onFailure: 'cancel'`, the default, this job is cancelled if one of them fails.
   *
   * Rejects as `QueueProducer.enqueue` does, with FlowTooLargeError and with LeaseLostError.
   */
  fanOut<Queue extends QueueName>(
    queue: Queue,
    payloads: readonly PayloadOf<Queue>[],
    options: FanOutOptions = {},
  ): Promise<void> {
    return this.#call(`fanOut("${queue}")`, async () => {
      if (await this.#actions.children.fanOut(queue, payloads, options))
        this.#exit({ kind: 'block' }, 'blocked until its children end');
    });
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
   * Releases the job, and lets its group, or without one its queue, rest in all processes until a date, or for a duration
   * from now: for the answer 429 of an API. The attempt is not counted. Jobs that run already continue.
   */
  rateLimit(until: SnoozeUntil): never {
    InvalidOptionsError.throwIfAny('Cannot let the queue rest', [snoozeProblem(until)]);
    const resting = this.group === null ? 'queue' : 'group';
    return this.#exit({ kind: 'rest until', until }, `released, and its ${resting} rests ${describeUntil(until)}`);
  }

  /** Ends the job as dead, whatever attempts remain. */
  discard(reason: string): never {
    return this.#exit({ kind: 'discard', reason: String(reason) }, `discarded: ${reason}`);
  }

  #call<T>(name: string, act: () => Promise<T>): Promise<T> {
    return this.#actions.calls.start(`job.${name}`, act);
  }

  #exit(outcome: HandlerOutcome, description: string): never {
    this.#actions.decide(outcome);
    throw new HandlerExit(`Job ${this.id} of queue "${this.queue}" was ${description}.`);
  }
}

/** The properties of the context of a job, without its actions. */
export type JobContextFields<P> = Omit<ReturnType<typeof toContextFields>, 'payload'> & { readonly payload: P };

export function toContextFields(job: ClaimedJob, { payload, headers }: JobInput, startedAt: Date) {
  const { id, queue, name, attempt, maxAttempts, overrides, group } = job;
  const createdAt = new Date(job.createdAtMs);
  const schedule = overrides?.schedule && toJobSchedule(overrides.schedule);
  return { id, queue, name, payload, attempt, maxAttempts, createdAt, startedAt, headers, schedule, group };
}

export interface JobInput {
  readonly payload: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

/** Throws or rejects with PayloadInvalidError or MalformedJobError. Returns a promise only if there is a schema. */
export function toJobInput(
  { id, queue, headers: stored }: ClaimedJob,
  text: string,
  options: ResolvedQueueOptions,
): MaybePromise<JobInput> {
  const payload = parsePayload(queue, text);
  const parsedHeaders = readHeaders(stored);
  if ('problem' in parsedHeaders) throw new MalformedJobError(id, queue, 'headers', parsedHeaders.problem);
  const { headers } = parsedHeaders;
  return options.schema ? checkInput(queue, { payload, headers }, options) : { payload, headers };
}

async function checkInput(queue: string, { payload, headers }: JobInput, options: ResolvedQueueOptions) {
  try {
    return { payload: await checkPayload(queue, payload, options), headers };
  } catch (error) {
    throw error instanceof PayloadInvalidError ? error : new PayloadInvalidError(queue, messageOf(error));
  }
}

function parsePayload(queue: string, payload: string): unknown {
  try {
    return JSON.parse(payload);
  } catch (error) {
    throw new PayloadInvalidError(queue, `expected JSON, got ${(error as Error).message}`);
  }
}

/** A retry cannot help a job with invalid input. If a service of a codec is down, the job waits without an attempt. */
export function outcomeOfUnreadable(error: unknown): Outcome {
  if (!hasCode(error, 'CONTENT_UNAVAILABLE')) return { kind: 'dead', error: storedError(error) };
  return { kind: 'snooze', delayMs: (error as ContentUnavailableError).retryInMs };
}
