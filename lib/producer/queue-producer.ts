import { isTurnLong, nextTurn } from '../common/turn.js';
import { checkJobId } from '../job/identifiers.js';
import { matchesHeaders } from '../job/topics.js';
import type { EnqueueOptions } from '../job/enqueue-options.js';
import type { NewJob } from '../job/job.js';
import { requireOptions } from '../job/expectation.js';
import type { PayloadOf, QueueName, ResultOf } from '../job/queue-jobs.js';
import { resolveWaitOptions, type WaitOptions } from '../job/wait-options.js';
import type { CallerTransaction } from '../store/verbs/job-store.js';
import { buildJob } from '../job/job-content.js';
import { buildJobs, type JobsToEnqueue } from './build-jobs.js';
import { buildStatement } from './build-statement.js';
import type {
  EnqueuedJob,
  EnqueueStatement,
  InTransaction,
  JobOfQueue,
  JobToEnqueue,
  RequestOptions,
  StatementOptions,
} from './enqueued-job.js';
import { JobInserter } from './job-inserter.js';
import type { ProducerParts } from './producer-parts.js';
import { resolveMessage } from './resolve-message.js';
import { sendRequest } from './send-request.js';
import { sendSignal } from './send-signal.js';
import { storeFlow, type EnqueuedFlow, type FlowBuilder } from './flow-builder.js';

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
  enqueueStatement<Queue extends QueueName>(
    queue: Queue,
    payload: PayloadOf<Queue>,
    given: StatementOptions = {},
  ): Promise<EnqueueStatement> {
    return buildStatement(this.#parts, this.#inserter, queue, payload, given, this.#manager);
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
    const { jobs, manager = this.#manager } = await buildJobs(this.#parts, args);
    return jobs.length === 0 ? [] : this.#inserter.insert('enqueueMany', jobs, manager);
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
    return sendSignal(this.#parts, name, key, data, given, this.#manager);
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
    const result = await sendRequest(this.#parts, this.#inserter, queue, payload, given, this.#manager);
    return result as ResultOf<Queue>;
  }

  /** A producer whose calls all run in the transaction of `manager`. See `InTransaction`. */
  withManager(manager: CallerTransaction): QueueProducer {
    return new QueueProducer(this.#parts, manager, this.#inserter);
  }
}
