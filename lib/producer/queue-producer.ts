import { checkQueueName } from '../job/job-names.js';
import { checkSize, encodePayload, encodeUnchecked } from '../job/payload.js';
import { resolveEnqueueOptions, type EnqueueOptions } from '../job/enqueue-options.js';
import { InvalidOptionsError } from '../job/errors.js';
import { expected, unknownKeys } from '../job/expectation.js';
import type { NewJob } from '../job/job.js';
import type { ResolvedQueueOptions } from '../job/queue-options.js';
import { EnqueueGroup } from './enqueue-group.js';
import type { CallerTransaction, JobStore } from '../store/job-store.js';
import type { PayloadOf } from './queue-jobs.js';

/** What `enqueue` answers. */
export interface EnqueuedJob {
  readonly id: number;
  readonly queue: string;
  readonly name: string;
}

export interface InTransaction {
  /**
   * The manager or query runner of your open transaction: the job exists only if it commits. Nothing is retried in it,
   * since a deadlock has rolled back your work too.
   */
  manager?: CallerTransaction;
}

/** One job of `enqueueMany`. */
export interface JobToEnqueue<Payload = unknown> {
  payload: Payload;
  options?: EnqueueOptions;
}

export interface ProducerParts {
  readonly store: Pick<JobStore, 'enqueue' | 'afterCommit'>;
  readonly optionsFor: (queue: string) => ResolvedQueueOptions;
  /** Told of jobs that exist from now on, so that no worker, here or elsewhere, need wait for its poll. */
  readonly hints: { wake(queue: string, jobs: number): void; expectDue(ms: number): void };
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

  constructor(parts: ProducerParts, manager?: CallerTransaction, group = new EnqueueGroup(parts.store)) {
    this.#parts = parts;
    this.#manager = manager;
    this.#group = group;
  }

  /**
   * Puts one job in, and answers when it is stored: in the transaction of `manager` where one is given, else by itself.
   * Rejects with InvalidOptionsError, PayloadInvalidError or PayloadTooLargeError before any SQL, and with
   * StoreUnavailableError where the database is away.
   */
  async enqueue<Queue extends string>(
    queue: Queue,
    payload: PayloadOf<Queue>,
    { manager = this.#manager, ...options }: EnqueueOptions & InTransaction = {},
  ): Promise<EnqueuedJob> {
    const hasOptions = Object.keys(options).length > 0;
    const job = await this.#prepare(queue, payload, hasOptions ? options : undefined);
    const [enqueued] = await this.#store(queue, [job], manager);
    return enqueued!;
  }

  /** Puts many jobs in, all or none, a statement for some thousand; ids are in the order of the jobs. */
  async enqueueMany<Queue extends string>(
    queue: Queue,
    jobs: readonly JobToEnqueue<PayloadOf<Queue>>[],
    { manager = this.#manager, ...unknown }: InTransaction = {},
  ): Promise<EnqueuedJob[]> {
    checkQueueName(queue);
    InvalidOptionsError.throwIfAny(`Cannot enqueue into "${queue}"`, [
      ...unknownKeys(unknown, ['manager']),
      expected(Array.isArray(jobs), 'a list of { payload, options? }', jobs),
    ]);
    const prepared: NewJob[] = [];
    for (const [index, job] of jobs.entries()) {
      InvalidOptionsError.throwIfAny(`Cannot enqueue into "${queue}"`, [
        expected(
          typeof job === 'object' && job !== null && 'payload' in job,
          `job ${index} to be { payload, options? }`,
          job,
        ),
      ]);
      const one = this.#prepare(queue, job.payload, job.options);
      prepared.push(one instanceof Promise ? await one : one);
    }
    return prepared.length === 0 ? [] : this.#store(queue, prepared, manager);
  }

  /** The same producer, with everything in that transaction. */
  withManager(manager: CallerTransaction): QueueProducer {
    return new QueueProducer(this.#parts, manager, this.#group);
  }

  /** At once but for a schema, which may take its time. */
  #prepare(queue: string, payload: unknown, options: EnqueueOptions | undefined): NewJob | Promise<NewJob> {
    checkQueueName(queue);
    const { name, priority, delayMs, runAtMs, attempts, headers, overrides } = resolveEnqueueOptions(queue, options);
    const queueOptions = this.#parts.optionsFor(queue);
    const headerText = headers && JSON.stringify(headers);
    if (headerText) checkSize(queue, 'headers', headerText, MOST_HEADER_BYTES);
    const job = {
      ...{ queue, name, priority, delayMs, runAtMs },
      // Unsaid, it is the word of whoever claims the job: a process that only produces need not know.
      maxAttempts: attempts,
      headers: headerText,
      overrides: overrides && JSON.stringify(overrides),
    };
    if (!queueOptions.schema) return { ...job, payload: encodeUnchecked(queue, payload, queueOptions) };
    return encodePayload(queue, payload, queueOptions).then((encoded) => ({ ...job, payload: encoded }));
  }

  async #store(queue: string, jobs: readonly NewJob[], manager?: CallerTransaction): Promise<EnqueuedJob[]> {
    const { store } = this.#parts;
    const ids = await (manager ? store.enqueue(jobs, manager) : this.#group.enqueue(jobs));
    if (manager) store.afterCommit(manager, () => this.#hint(queue, jobs));
    else this.#hint(queue, jobs);
    return jobs.map(({ name }, index) => ({ id: ids[index]!, queue, name }));
  }

  #hint(queue: string, jobs: readonly NewJob[]): void {
    const delays = jobs.filter((job) => job.delayMs !== null).map((job) => job.delayMs!);
    // A time of day is the database's to judge: looking once more tells how far it is.
    if (jobs.some((job) => job.runAtMs !== null)) delays.push(0);
    if (delays.length > 0) this.#parts.hints.expectDue(Math.min(...delays));
    const waiting = jobs.filter((job) => job.delayMs === null && job.runAtMs === null).length;
    if (waiting > 0) this.#parts.hints.wake(queue, waiting);
  }
}
