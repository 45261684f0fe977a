import type { KeyOptions } from '../job/job-key.js';
import { checkJobId } from '../job/job-id.js';
import { checkQueueName } from '../job/job-names.js';
import { checkSize, encodePayload, encodeUnchecked } from '../job/payload.js';
import { admits } from '../job/topics.js';
import { resolveEnqueueOptions, type EnqueueOptions, type JobOverrides } from '../job/enqueue-options.js';
import { InvalidOptionsError } from '../job/errors.js';
import { expected, isOptions, unknownKeys } from '../job/expectation.js';
import type { NewJob } from '../job/job.js';
import type { PayloadOf, QueueName, ResultOf } from '../job/queue-jobs.js';
import type { ResolvedQueueOptions } from '../job/queue-options.js';
import { resolveWaitOptions, type ResolvedWaitOptions, type WaitOptions } from '../job/wait-options.js';
import { EnqueueGroup } from './enqueue-group.js';
import { KeyedGroup } from './keyed-group.js';
import type { CallerTransaction, JobStore } from '../store/job-store.js';
import type { PlacedJob } from '../store/key-store.js';
import type { QueueStore } from '../store/queue-store.js';
import type { Clock } from '../time/clock.js';
import type { Duration } from '../time/duration.js';
import { resolveMessage } from './message.js';
import { WaitingLimit } from './waiting-limit.js';

/** The answer of `enqueue`. */
export interface EnqueuedJob {
  readonly id: number;
  readonly queue: string;
  readonly name: string;
  /**
   * `created`: a new job. `existing`: another job has the `key`, and stays as it is; `id` is that job's. `replaced`: the job that had the
   * `key` has this payload and these options now, and keeps its `id`.
   */
  readonly outcome: 'created' | 'existing' | 'replaced';
}

export interface InTransaction {
  /**
   * The manager or query runner of your open transaction: the job exists only if it commits. Nothing is retried in it,
   * since a deadlock has rolled back your work too. One without an open transaction is refused with InvalidOptionsError.
   */
  manager?: CallerTransaction;
}

/** One job of `enqueueMany`. */
export interface JobToEnqueue<Payload = unknown> {
  payload: Payload;
  options?: EnqueueOptions;
}

/** What a producer can do for jobs that it, or another one, has put in. */
export interface Following {
  /** See QueueAdmin.cancel. */
  cancel(id: number): Promise<boolean>;
  waitFor(id: number, options: ResolvedWaitOptions): Promise<unknown>;
  /** Of a job that was put in with `reply`. */
  answerTo(id: number, queue: string, options: ResolvedWaitOptions): Promise<unknown>;
}

/** How a request differs from its queue's defaults. */
export interface RequestOptions extends Omit<EnqueueOptions, 'timeout' | keyof KeyOptions>, WaitOptions {
  /** The job is cancelled where its answer takes longer than this. Default 30s. */
  timeout?: Duration;
}

export interface ProducerParts {
  readonly store: Pick<JobStore, 'enqueue' | 'enqueueKeyed' | 'enqueueKeyedWithin' | 'afterCommit' | 'countWaiting'>;
  readonly queueStore: Pick<QueueStore, 'subscribers'>;
  readonly clock: Clock;
  readonly optionsFor: (queue: string) => ResolvedQueueOptions;
  /** Told of jobs that exist from now on, so that no worker, here or elsewhere, need wait for its poll. */
  readonly hints: {
    /** Jobs of the queue are being put in. */
    foresee(queue: string): void;
    wake(queue: string, jobs: number): void;
    /** A job of the queue will be due in so many milliseconds. */
    expectDue(queue: string, ms: number): void;
    /** A job of the queue will be due at that time of day. */
    expectAt(queue: string, time: number): void;
  };
  readonly following: Following;
  /** Told of jobs that exist from now on. */
  readonly events: { tell(event: 'enqueued', jobs: readonly EnqueuedJob[]): void };
}

// Enough for trace context and the like; what is larger belongs into the payload.
const MOST_HEADER_BYTES = 16_384;

/**
 * Puts jobs in.
 *
 * @example
 * ```ts
 * await dataSource.transaction(async (manager) => {
 *   await manager.save(user);
 *   await producer.enqueue('email.send', { to: user.email }, { manager });
 * });
 * ```
 */
export class QueueProducer {
  readonly #parts: ProducerParts;
  readonly #manager: CallerTransaction | undefined;

  readonly #group: EnqueueGroup;
  readonly #keyed: KeyedGroup;
  readonly #limit: WaitingLimit;

  /** @internal Nest injects it. */
  constructor(
    parts: ProducerParts,
    manager?: CallerTransaction,
    group = new EnqueueGroup(parts.store),
    keyed = new KeyedGroup(parts.store, parts.clock),
    limit = new WaitingLimit(parts.store, parts.clock),
  ) {
    this.#parts = parts;
    this.#manager = manager;
    this.#group = group;
    this.#keyed = keyed;
    this.#limit = limit;
  }

  /**
   * Puts one job in, and answers when it is stored: in the transaction of `manager` where one is given, else by itself.
   * Rejects with InvalidOptionsError, PayloadInvalidError or PayloadTooLargeError before any SQL, with QueueFullError where
   * `maxWaiting` is reached, with DuplicateKeyError where another job holds its `key` and `onConflict` allows no other way,
   * and with StoreUnavailableError where the database is away: nothing was done then, and you may ask again. Where the
   * connection breaks while the job is being committed, it is found out whether it was, before it is done again or answered;
   * only a database that does not come back within a minute leaves that open (`outcome: 'unknown'`).
   */
  async enqueue<Queue extends QueueName>(
    queue: Queue,
    payload: PayloadOf<Queue>,
    given: EnqueueOptions & InTransaction = {},
  ): Promise<EnqueuedJob> {
    const { manager = this.#manager, ...options } = optionsOf(given);
    const hasOptions = Object.keys(options).length > 0;
    const job = await this.#prepare(queue, payload, hasOptions ? options : undefined);
    const [enqueued] = await this.#store(queue, [job], manager);
    return enqueued!;
  }

  /** Puts many jobs in, all or none, a statement for some thousand; ids are in the order of the jobs. */
  async enqueueMany<Queue extends QueueName>(
    queue: Queue,
    jobs: readonly JobToEnqueue<PayloadOf<Queue>>[],
    given: InTransaction = {},
  ): Promise<EnqueuedJob[]> {
    const { manager = this.#manager, ...unknown } = optionsOf(given);
    checkQueueName(queue);
    InvalidOptionsError.throwIfAny(`Cannot enqueue into "${queue}"`, [
      ...unknownKeys(unknown, ['manager']),
      expected(Array.isArray(jobs), 'a list of { payload, options? }', jobs),
    ]);
    const prepared: NewJob[] = [];
    for (const [index, job] of jobs.entries()) {
      checkJobToEnqueue(queue, job, index);
      const one = this.#prepare(queue, job.payload, job.options);
      prepared.push(one instanceof Promise ? await one : one);
    }
    return prepared.length === 0 ? [] : this.#store(queue, prepared, manager);
  }

  /**
   * Puts a copy of a message into every queue that subscribes to its topic (`@QueueProcessor('crm.sync', { topic: 'user.*' })`,
   * or `QueueAdmin.subscribe`), all or none, in the transaction of `manager` where one is given. Answers the copies, none where
   * nobody subscribes. Every subscription that was committed before gets its copy, whether or not its worker is up. The
   * topic stands in the header `topic`; the options are those of `enqueue`, for each copy. Rejects as `enqueue` does, where
   * one queue refuses its copy for all of them.
   *
   * @example
   * ```ts
   * await producer.publish('user.created', { id: user.id }, { headers: { region: 'eu' }, manager });
   * ```
   */
  async publish(topic: string, payload: unknown, given: EnqueueOptions & InTransaction = {}): Promise<EnqueuedJob[]> {
    const { manager = this.#manager, ...options } = resolveMessage(topic, payload, given);
    const subscribers = await this.#parts.queueStore.subscribers(topic, manager);
    const wanting = subscribers.filter(({ where }) => admits(where, options.headers));
    const queues = [...new Set(wanting.map(({ queue }) => queue))];
    const copies: NewJob[] = [];
    for (const queue of queues) copies.push(await this.#prepare(queue, payload, options));
    if (copies.length === 0) return [];
    const admitted = new Map<string, Told>();
    for (const copy of copies) admitted.set(copy.queue, await this.#admit(copy.queue, [copy], manager));
    return this.#insert(
      copies,
      manager,
      (put) => put.forEach((copy) => admitted.get(copy.queue)!([copy])),
      (changed) => changed.forEach((copy) => this.#hint(copy.queue, [copy])),
    );
  }

  /**
   * Stops a job for good. True: it is cancelled, or it runs and its worker, in whatever process, aborts its signal: at once
   * if it can be notified, else within a third of its lease. Then it ends cancelled unless its handler completes all the
   * same. False: it is finished, or unknown.
   * Not part of a transaction. Rejects with InvalidOptionsError for what is no id.
   */
  cancel(id: number): Promise<boolean> {
    return this.#parts.following.cancel(id);
  }

  /**
   * Waits for the job to end, wherever it runs, and resolves with what its handler returned. Some milliseconds after its end,
   * a second at the latest where processes cannot wake one another; however many jobs are waited for, they are looked for
   * together. Rejects with JobFailedError, JobCancelledError, WaitTimeoutError, the reason of `signal`, JobNotFoundError, or
   * ResultNotKeptError, at once, where the queue has no history of completed jobs.
   */
  async waitFor<Result = unknown>(id: number, options: WaitOptions = {}): Promise<Result> {
    checkJobId(id);
    return this.#parts.following.waitFor(
      id,
      resolveWaitOptions(`Cannot wait for job ${id}`, options),
    ) as Promise<Result>;
  }

  /**
   * Asks and waits for the answer: puts a job in and resolves with what its handler returns. Nothing of it is kept. Rejects as
   * `enqueue` and `waitFor` do; where nobody waits any more (`timeout`, `signal`) the job is cancelled. Never in a transaction:
   * nobody could see the job before that commits.
   */
  async request<Queue extends QueueName>(
    queue: Queue,
    payload: PayloadOf<Queue>,
    given: RequestOptions = {},
  ): Promise<ResultOf<Queue>> {
    checkQueueName(queue);
    const where = `Cannot request from "${queue}"`;
    const { timeout = '30s', signal, onProgress, ...options } = optionsOf(given);
    const { manager = this.#manager } = options as InTransaction;
    InvalidOptionsError.throwIfAny(where, [
      (options as EnqueueOptions).key !== undefined
        ? 'expected no key, got one: an answer is for one alone. Use enqueue() with the key, and waitFor() its id'
        : undefined,
      manager && 'expected no manager, got one: nobody can see the job and answer before its transaction has committed',
    ]);
    const wait = resolveWaitOptions(where, { timeout, ...(signal && { signal }), ...(onProgress && { onProgress }) });
    signal?.throwIfAborted();
    const job = await this.#prepare(queue, payload, options);
    const overrides = { ...(job.overrides && (JSON.parse(job.overrides) as JobOverrides)), reply: true };
    const [{ id }] = (await this.#store(queue, [{ ...job, overrides: JSON.stringify(overrides) }])) as [EnqueuedJob];
    return this.#parts.following.answerTo(id, queue, wait) as Promise<ResultOf<Queue>>;
  }

  /** The same producer, with everything in that transaction. */
  withManager(manager: CallerTransaction): QueueProducer {
    return new QueueProducer(this.#parts, manager, this.#group, this.#keyed, this.#limit);
  }

  /** At once but for a schema, which may take its time. */
  #prepare(queue: string, payload: unknown, options: EnqueueOptions | undefined): NewJob | Promise<NewJob> {
    checkQueueName(queue);
    const { name, priority, delayMs, runAtMs, attempts, headers, overrides, key } = resolveEnqueueOptions(
      queue,
      options,
    );
    const queueOptions = this.#parts.optionsFor(queue);
    const headerText = headers && JSON.stringify(headers);
    if (headerText) checkSize(queue, 'headers', headerText, MOST_HEADER_BYTES);
    const overrideText = overrides && JSON.stringify(overrides);
    // Written out: spreading takes longer than all else that is done for a job here.
    const jobOf = (encoded: string): NewJob => ({
      queue,
      name,
      payload: encoded,
      priority,
      delayMs,
      runAtMs,
      // Unsaid, it is the word of whoever claims the job: a process that only produces need not know.
      maxAttempts: attempts,
      headers: headerText,
      overrides: overrideText,
      key,
    });
    if (!queueOptions.schema) return jobOf(encodeUnchecked(queue, payload, queueOptions));
    return encodePayload(queue, payload, queueOptions).then(jobOf);
  }

  async #store(queue: string, jobs: readonly NewJob[], manager?: CallerTransaction): Promise<EnqueuedJob[]> {
    const put = await this.#admit(queue, jobs, manager);
    return this.#insert(jobs, manager, put, (changed) => this.#hint(queue, changed));
  }

  /** What it answers is to be told of the jobs that were put in. */
  async #admit(queue: string, jobs: readonly NewJob[], manager?: CallerTransaction): Promise<Told> {
    const { maxWaiting } = this.#parts.optionsFor(queue);
    if (maxWaiting === false) return tellNobody;
    const waiting = jobs.filter(isForNow).length;
    if (jobs.some(hasKey)) {
      const count = await this.#limit.foresee(queue, waiting, maxWaiting, manager);
      return (put) => count(put.filter(isForNow).length);
    }
    await this.#limit.admit(queue, waiting, maxWaiting, manager);
    return tellNobody;
  }

  /** @param hint told, once they are there, of the jobs that were not there before or are others now */
  async #insert(
    jobs: readonly NewJob[],
    manager: CallerTransaction | undefined,
    put: Told,
    hint: Told,
  ): Promise<EnqueuedJob[]> {
    const { store, hints } = this.#parts;
    const placing = jobs.some(hasKey) ? this.#place(jobs, manager) : undefined;
    const adding = placing ? undefined : manager ? store.enqueue(jobs, manager) : this.#group.enqueue(jobs);
    // Beside the commit, which takes longer. Nobody knows when a caller's transaction commits.
    if (!manager && isForNow(jobs[0]!)) hints.foresee(jobs[0]!.queue);
    const placed = await placing;
    const ids = placed?.map(({ id }) => id) ?? (await adding!);
    const changed = placed ? jobs.filter((_, index) => placed[index]!.outcome !== 'existing') : jobs;
    put(changed);
    const enqueued = jobs.map(({ queue, name }, index): EnqueuedJob => {
      const place = placed?.[index];
      if (!place) return { id: ids[index]!, queue, name, outcome: 'created' };
      return { id: place.id, queue, name: place.name, outcome: place.outcome };
    });
    const tell = () => {
      const fresh = placed ? enqueued.filter(({ outcome }) => outcome === 'created') : enqueued;
      if (fresh.length > 0) this.#parts.events.tell('enqueued', fresh);
      hint(changed);
    };
    if (manager) store.afterCommit(manager, tell);
    else tell();
    return enqueued;
  }

  async #place(jobs: readonly NewJob[], manager: CallerTransaction | undefined): Promise<readonly PlacedJob[]> {
    const within = manager && (await this.#parts.store.enqueueKeyedWithin(jobs, manager));
    return within ?? this.#keyed.enqueue(jobs);
  }

  #hint(queue: string, jobs: readonly NewJob[]): void {
    const delays = jobs.filter((job) => job.delayMs !== null).map((job) => job.delayMs!);
    if (delays.length > 0) this.#parts.hints.expectDue(queue, Math.min(...delays));
    const times = jobs.filter((job) => job.runAtMs !== null).map((job) => job.runAtMs!);
    if (times.length > 0) this.#parts.hints.expectAt(queue, Math.min(...times));
    const waiting = jobs.filter(isForNow).length;
    if (waiting > 0) this.#parts.hints.wake(queue, waiting);
  }
}

function optionsOf<Options extends object>(given: Options): Options {
  if (isOptions(given)) return given;
  throw new InvalidOptionsError('Cannot enqueue', [expected(false, 'options to be an object', given)!]);
}

function checkJobToEnqueue(queue: string, job: unknown, index: number): asserts job is JobToEnqueue {
  if (typeof job === 'object' && job !== null && 'payload' in job) return;
  const problem = expected(false, `job ${index} to be { payload, options? }`, job)!;
  throw new InvalidOptionsError(`Cannot enqueue into "${queue}"`, [problem]);
}

type Told = (jobs: readonly NewJob[]) => void;

function tellNobody(): void {}

function hasKey({ key }: NewJob): boolean {
  return key !== undefined;
}

function isForNow({ delayMs, runAtMs }: NewJob): boolean {
  return delayMs === null && runAtMs === null;
}
