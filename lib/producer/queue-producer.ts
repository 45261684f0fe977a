import { groupBy } from '../common/lists.js';
import { isTurnLong, nextTurn } from '../common/turn.js';
import { resolveEnqueueOptions, type EnqueueOptions } from '../job/enqueue-options.js';
import { InvalidOptionsError, PayloadInvalidError } from '../job/errors.js';
import { expected, requireOptions, unknownKeys } from '../job/expectation.js';
import { checkJobId, checkQueueName, nameProblem } from '../job/identifiers.js';
import { buildJob, encodeValue } from '../job/job-content.js';
import type { JobOverrides } from '../job/job-overrides.js';
import type { NewJob } from '../job/job.js';
import { encodeJson } from '../job/json.js';
import type { PayloadOf, QueueName, ResultOf } from '../job/queue-jobs.js';
import { signalHash, signalProblems } from '../job/signal.js';
import { matchesHeaders, TOPIC_HEADER } from '../job/topics.js';
import { resolveWaitOptions, type WaitOptions } from '../job/wait-options.js';
import type { CallerTransaction } from '../store/verbs/job-store.js';
import type {
  EnqueuedJob,
  EnqueueStatement,
  InTransaction,
  JobOfQueue,
  JobToEnqueue,
  RequestOptions,
  StatementOptions,
} from './enqueued-job.js';
import { storeFlow, type EnqueuedFlow, type FlowBuilder } from './flow-builder.js';
import { JobInserter } from './job-inserter.js';
import type { ProducerParts } from './producer-parts.js';

/**
 * Enqueues jobs, publishes messages, and waits for results.
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
  readonly #inserter: JobInserter;

  /** @internal Nest injects it. */
  constructor(parts: ProducerParts, manager?: CallerTransaction, inserter = new JobInserter(parts)) {
    this.#parts = parts;
    this.#manager = manager;
    this.#inserter = inserter;
  }

  /**
   * Enqueues one job and resolves when it is stored: in the transaction of `manager` if one is given, else in a
   * transaction of the library.
   *
   * Rejects with
   * - InvalidOptionsError, PayloadInvalidError or PayloadTooLargeError, before any SQL;
   * - QueueFullError if `maxWaiting` of the queue is reached;
   * - DuplicateKeyError if another job owns the `key` and `onConflict` permits no other outcome;
   * - StoreUnavailableError if the database is unavailable. Then nothing was stored, and the call can be repeated.
   *
   * If the connection breaks during the commit, the library finds out whether the job was stored, and retries if it was
   * not. If the database does not return within a minute, it rejects with StoreUnavailableError and
   * `outcome: 'unknown'`.
   */
  async enqueue<Queue extends QueueName>(
    queue: Queue,
    payload: PayloadOf<Queue>,
    given?: EnqueueOptions & InTransaction,
  ): Promise<EnqueuedJob> {
    const { manager = this.#manager, ...options }: EnqueueOptions & InTransaction =
      given === undefined ? {} : requireOptions('Cannot enqueue', given);
    const own = Object.keys(options).length > 0 ? options : undefined;
    const job = await buildJob(queue, payload, own, this.#parts.optionsFor, ['manager']);
    const [enqueued] = await this.#inserter.insert('enqueue', [job], manager);
    return enqueued!;
  }

  /**
   * Builds the INSERT of one job, for a transaction of another ORM: the job exists if, and only if, that transaction
   * commits. Checks and encodes the job as `enqueue` does, and counts it against `maxWaiting`. Listeners receive no
   * `enqueued` event.
   *
   * Rejects as `enqueue` does, and with InvalidOptionsError for a `key`, a `subject` and a `manager`, which need more than
   * one INSERT or another transaction.
   *
   * @example
   * ```ts
   * const job = await producer.enqueueStatement('email.send', { to: user.email });
   * await prisma.$transaction((tx) => tx.$executeRawUnsafe(job.sql, ...job.values));
   * job.notify();
   * ```
   */
  async enqueueStatement<Queue extends QueueName>(
    queue: Queue,
    payload: PayloadOf<Queue>,
    given: StatementOptions = {},
  ): Promise<EnqueueStatement> {
    const { optionsFor, store, instrumentations } = this.#parts;
    checkQueueName(queue);
    const all: EnqueueOptions & InTransaction = requireOptions('Cannot enqueue', given);
    const { manager = this.#manager, ...options } = all;
    InvalidOptionsError.throwIfAny(`Cannot build a statement for queue "${queue}"`, [
      options.key !== undefined ? refused('key', 'an INSERT cannot find the owner of a key') : undefined,
      options.subject !== undefined ? refused('subject', 'a subject has a row of its own') : undefined,
      manager ? 'expected no manager, got one: enqueue() stores the job in its transaction' : undefined,
    ]);
    const job = await buildJob(queue, payload, options, optionsFor);
    const build = async (sent: NewJob): Promise<EnqueueStatement> => {
      const bind = () => store.enqueueStatement(sent);
      const { text: sql, values } = await this.#inserter.storeWithinLimits([sent], undefined, bind);
      return { sql, values: [...values], notify: () => this.#inserter.notifyWorkers(sent.queue, [sent]) };
    };
    if (!instrumentations) return build(job);
    return instrumentations.enqueue(
      'enqueueStatement',
      [job],
      ([sent]) => build(sent!),
      () => [],
    );
  }

  /**
   * Enqueues all jobs or none, in one transaction, with statements of up to 1,000 jobs: into one queue, or into the queue
   * that each job names. The results are in the order of the jobs. Rejects as `enqueue` does.
   *
   * @example
   * ```ts
   * await producer.enqueueMany('email.send', users.map(({ email }) => ({ payload: { to: email } })), { manager });
   * await producer.enqueueMany([
   *   { queue: 'email.send', payload: { to: email } },
   *   { queue: 'crm.sync', payload: { id }, options: { delay: '1m' } },
   * ]);
   * ```
   */
  enqueueMany<Queue extends QueueName>(
    queue: Queue,
    jobs: readonly JobToEnqueue<PayloadOf<Queue>>[],
    given?: InTransaction,
  ): Promise<EnqueuedJob[]>;
  enqueueMany(jobs: readonly JobOfQueue[], given?: InTransaction): Promise<EnqueuedJob[]>;
  async enqueueMany(...args: JobsToEnqueue): Promise<EnqueuedJob[]> {
    const [queue, jobs, given = {}] = isOfSeveralQueues(args) ? [undefined, ...args] : args;
    const { manager = this.#manager, ...unknown } = requireOptions('Cannot enqueue', given);
    if (queue !== undefined) checkQueueName(queue);
    const where = queue === undefined ? 'Cannot enqueue' : `Cannot enqueue into "${queue}"`;
    InvalidOptionsError.throwIfAny(where, [
      ...unknownKeys(unknown, ['manager']),
      expected(Array.isArray(jobs), 'a list of { payload, options? }', jobs),
    ]);
    const built: NewJob[] = [];
    // A copy: the caller can change its list while this loop waits.
    for (const [index, job] of [...jobs].entries()) {
      checkJobToEnqueue(where, job, index);
      const newJob = buildJob(queue ?? (job as JobOfQueue).queue, job.payload, job.options, this.#parts.optionsFor);
      built.push(newJob instanceof Promise ? await newJob : newJob);
      if (isTurnLong()) await nextTurn();
    }
    return built.length === 0 ? [] : this.#inserter.insert('enqueueMany', built, manager);
  }

  /**
   * Enqueues jobs of which some run after others, all or none, in one transaction. A job that waits for others is `blocked`.
   * When all of them have completed, it waits in its queue, and its handler reads their results with `job.children()`.
   *
   * Rejects as `enqueue` does, with FlowCycleError if jobs wait for each other, and with FlowTooLargeError above 100,000
   * jobs or 200,000 dependencies.
   *
   * @example
   * ```ts
   * await producer.flow((flow) => {
   *   const parts = flow.addMany('part.render', [{ part: 1 }, { part: 2 }]);
   *   const merged = flow.add('video.merge', { id }, { after: parts });
   *   flow.add('mail.send', { to }, { after: merged, onFailure: 'run' });
   * }, { manager });
   * ```
   */
  flow(build: (flow: FlowBuilder) => unknown, given: InTransaction = {}): Promise<EnqueuedFlow> {
    return storeFlow(this.#parts, this.#inserter, build, given, this.#manager);
  }

  /**
   * Sends a signal to the jobs that wait for it with `job.waitFor(name, { key })`, now or within 30 days: in the transaction
   * of `manager` if one is given, else in a transaction of the library. A later signal of the same name and key replaces
   * its data for jobs that have not received it.
   *
   * Resolves with the number of jobs that it woke; null in your transaction, because they wake after its commit, and if the
   * database was lost meanwhile. `QueueAdmin.signals({ unmatched: true })` lists the signals that no job has received.
   * Rejects with InvalidOptionsError, PayloadInvalidError or PayloadTooLargeError before any SQL, and with
   * StoreUnavailableError.
   *
   * @example await producer.signal('approval', `order:${order.id}`, { by: user.name }, { manager });
   */
  async signal(name: string, key: string, data?: unknown, given: InTransaction = {}): Promise<number | null> {
    const { steps, store, notifier, optionsFor } = this.#parts;
    const { manager = this.#manager, ...unknown } = requireOptions('Cannot send a signal', given);
    InvalidOptionsError.throwIfAny('Cannot send a signal', [
      ...signalProblems(name, key),
      ...unknownKeys(unknown, ['manager']),
    ]);
    const hash = signalHash(name, key);
    const encoded = data === undefined ? null : await encodeValue(name, 'signal', data, optionsFor(name));
    // The signal is stored by then. If this fails, a worker wakes the jobs within a minute.
    const wake = async () => {
      const woken = await steps.wakeWaiting(hash).catch(() => null);
      for (const [queue, { length }] of groupBy(woken ?? [], (job) => job.queue)) notifier.wake(queue, length);
      return woken && woken.length;
    };
    await steps.signal({ name, key, hash, data: encoded }, { transaction: manager });
    if (!manager) return wake();
    store.afterCommit(manager, () => void wake());
    return null;
  }

  /**
   * Enqueues a copy of a message into every queue that subscribes to its topic, all or none: in the transaction of
   * `manager` if one is given, else in a transaction of the library. A queue subscribes by
   * `@QueueProcessor('crm.sync', { topic: 'user.*' })` or `QueueAdmin.subscribe`. Every subscription that has committed
   * before gets its copy, even if no worker of its queue is running.
   *
   * The options are those of `enqueue` and apply to each copy. The header `topic` of each copy names the topic.
   * Resolves with the copies, or with an empty list if no subscription matches. Rejects as `enqueue` does: if one queue
   * rejects its copy, no copy is stored.
   *
   * @example
   * ```ts
   * await producer.publish('user.created', { id: user.id }, { headers: { region: 'eu' }, manager });
   * ```
   */
  async publish(topic: string, payload: unknown, given: EnqueueOptions & InTransaction = {}): Promise<EnqueuedJob[]> {
    const { manager = this.#manager, ...options } = resolveMessage(topic, payload, given);
    const subscribers = await this.#parts.queueStore.subscribers(topic, manager);
    const matching = subscribers.filter(({ where }) => matchesHeaders(where, options.headers));
    const queues = new Set(matching.map(({ queue }) => queue));
    const copies: NewJob[] = [];
    const { group: _, ...withoutGroup } = options;
    const { optionsFor } = this.#parts;
    for (const queue of queues) {
      const hasGroups = optionsFor(queue).groups !== null;
      copies.push(await buildJob(queue, payload, hasGroups ? options : withoutGroup, optionsFor));
      if (isTurnLong()) await nextTurn();
    }
    return copies.length === 0 ? [] : this.#inserter.insert('publish', copies, manager);
  }

  /**
   * Cancels a job. Resolves with true if the job is cancelled, or if it is running. The worker of a running job, in any
   * process, then aborts its signal: at once if a notification arrives, else within a third of the lease. The job ends
   * cancelled unless its handler completes nevertheless. Resolves with false if the job is finished or unknown.
   *
   * The call is not part of a transaction. Rejects with InvalidOptionsError if `id` is not a job id.
   */
  cancel(id: number): Promise<boolean> {
    return this.#parts.tracker.cancel(id);
  }

  /**
   * Waits until the job ends, in any process, and resolves with the return value of its handler. It resolves some
   * milliseconds after the end of the job, or within a second if the database cannot notify this process. One query
   * serves all jobs that this process waits for.
   *
   * Rejects with
   * - JobFailedError, JobCancelledError or JobNotFoundError;
   * - ResultNotKeptError, at once, if the history does not keep the completed job;
   * - WaitTimeoutError after `timeout`, or the reason of `signal`. The job continues.
   */
  async waitFor<Result = unknown>(id: number, options: WaitOptions = {}): Promise<Result> {
    checkJobId(id);
    return this.#parts.tracker.waitFor(id, resolveWaitOptions(`Cannot wait for job ${id}`, options)) as Promise<Result>;
  }

  /**
   * Enqueues a job and resolves with the return value of its handler. The result is not kept. After `timeout` (default
   * 30s), or if `signal` is aborted, the job is cancelled. Rejects as `enqueue` and `waitFor` do, and with
   * InvalidOptionsError for a `key` or in a transaction: no worker can see the job before that transaction commits.
   */
  async request<Queue extends QueueName>(
    queue: Queue,
    payload: PayloadOf<Queue>,
    given: RequestOptions = {},
  ): Promise<ResultOf<Queue>> {
    const { optionsFor, tracker } = this.#parts;
    checkQueueName(queue);
    const where = `Cannot request from "${queue}"`;
    const { timeout = '30s', signal, onProgress, ...options } = requireOptions('Cannot enqueue', given);
    const { manager = this.#manager } = options as InTransaction;
    InvalidOptionsError.throwIfAny(where, [
      (options as EnqueueOptions).key !== undefined
        ? 'expected no key, got one: only one caller gets the result of a request. Use enqueue() with the key, and waitFor() its id'
        : undefined,
      manager &&
        'expected no manager, got one: no worker can see the job before the transaction of the manager commits',
    ]);
    const wait = resolveWaitOptions(where, { timeout, ...(signal && { signal }), ...(onProgress && { onProgress }) });
    signal?.throwIfAborted();
    const job = await buildJob(queue, payload, options, optionsFor);
    const overrides = { ...(job.overrides && (JSON.parse(job.overrides) as JobOverrides)), reply: true };
    const sent = { ...job, overrides: JSON.stringify(overrides) };
    const [enqueued] = await this.#inserter.insert('request', [sent], undefined);
    return (await tracker.waitForReply(enqueued!.id, queue, wait)) as ResultOf<Queue>;
  }

  /** A producer whose calls all run in the transaction of `manager`. See `InTransaction`. */
  withManager(manager: CallerTransaction): QueueProducer {
    return new QueueProducer(this.#parts, manager, this.#inserter);
  }
}

/** The arguments of `enqueueMany`. */
type JobsToEnqueue =
  | [queue: QueueName, jobs: readonly JobToEnqueue[], given?: InTransaction]
  | [jobs: readonly JobOfQueue[], given?: InTransaction];

function isOfSeveralQueues(args: readonly unknown[]): args is [readonly JobOfQueue[], InTransaction?] {
  return Array.isArray(args[0]);
}

function checkJobToEnqueue(where: string, job: unknown, index: number): asserts job is JobToEnqueue {
  if (typeof job === 'object' && job !== null && 'payload' in job) return;
  throw new InvalidOptionsError(where, [expected(false, `job ${index} to be { payload, options? }`, job)!]);
}

function refused(option: keyof EnqueueOptions, reason: string): string {
  return (
    `expected no ${option}, got one: ${reason}. ` +
    `Store a job without it by the statement, and let its handler call enqueue() with the ${option}`
  );
}

/**
 * Checks a message before its subscribers are known, so that its errors do not depend on them. Returns the options of
 * its copies, with the topic as a header.
 */
function resolveMessage(topic: string, payload: unknown, given: EnqueueOptions & InTransaction) {
  InvalidOptionsError.throwIfAny('Invalid topic', [nameProblem('topic', topic)]);
  const where = `Cannot publish "${topic}"`;
  resolveEnqueueOptions(topic, given, ['manager'], where);
  InvalidOptionsError.throwIfAny(where, [
    expected(
      !Object.hasOwn(given.headers ?? {}, TOPIC_HEADER),
      `no header "${TOPIC_HEADER}", which names the topic of each copy`,
      given.headers?.[TOPIC_HEADER],
    ),
  ]);
  const encoded = encodeJson(payload);
  if ('problem' in encoded) throw new PayloadInvalidError(topic, encoded.problem, { of: 'topic' });
  return { ...given, headers: { ...given.headers, [TOPIC_HEADER]: topic } };
}
