import { InvalidOptionsError } from '../job/errors.js';
import { expected, isOptions, unknownKeys } from '../job/expectation.js';
import type { JobRecord } from '../job/job.js';
import { checkJobId } from '../job/job-id.js';
import { checkQueueName } from '../job/job-names.js';
import { cursorOf, resolvePage, type PageOptions, type Position } from '../job/page-options.js';
import type { ResolvedQueueOptions } from '../job/queue-options.js';
import { resolveReplay, type ReplayOptions } from '../job/replay-options.js';
import { subscriptionProblems, subscriptionsOf, type SubscriptionOptions } from '../job/topics.js';
import type {
  AdminStore,
  JobCounts,
  JobFilter,
  JobPage,
  JobSearch,
  LogPage,
  QueueRecord,
  WorkerRecord,
} from '../store/admin-store.js';
import type { JobStore } from '../store/job-store.js';
import type { QueueStore, SubscriptionRecord } from '../store/queue-store.js';
import { noOptions } from './no-options.js';
import {
  BATCH,
  batches,
  checkFilter,
  filterOf,
  isJobs,
  searchesOf,
  type Jobs,
  type JobSelection,
} from './which-jobs.js';

type Steering = 'cancelled' | 'retried' | 'removed';

export interface AdminParts {
  readonly store: AdminStore;
  readonly jobs: Pick<JobStore, 'prune'>;
  readonly queues: Pick<QueueStore, 'subscribe' | 'unsubscribe' | 'subscriptions' | 'expire'>;
  readonly optionsFor: (queue: string) => ResolvedQueueOptions;
  /** This process's worker, which can be told at once what others find out with their next look. */
  readonly runner: { wake(queue: string): void; look(): void; cancel(jobId: number, workerId: string): void };
  /** Told of jobs that end by our hand: somebody may wait for them. */
  readonly awaited: { changedForSure(jobId: number): void };
  /** Told of what becomes of jobs by our hand, where somebody hears it. */
  readonly events: { isHeard(event: Steering): boolean; tell(event: Steering, jobs: readonly JobRecord[]): void };
}

/**
 * Looks at jobs and steers them, for all processes on the database.
 */
export class QueueAdmin {
  readonly #parts: AdminParts;

  /** @internal Nest injects it. */
  constructor(parts: AdminParts) {
    this.#parts = parts;
  }

  /** How many jobs there are in each state, of one queue or of all. */
  async counts(queue?: string): Promise<JobCounts> {
    if (queue !== undefined) checkQueueName(queue);
    return this.#parts.store.counts(queue);
  }

  /** The job, wherever it stands; null where it never was, or its retention is over. */
  async get(id: number): Promise<JobRecord | null> {
    checkJobId(id);
    return this.#parts.store.get(id);
  }

  /**
   * Jobs by id, which is the order of their enqueues; with the state `scheduled` by the time at which they are due. Answers in
   * milliseconds however many jobs there are: what no index knows (`name`, `error`, `finishedAfter`, `finishedBefore`) is looked
   * for among 5,000 jobs for each page, so pass `next` as `after` as long as there is one.
   *
   * @example
   * ```ts
   * const { jobs, next } = await admin.find({ queue: 'email.send', state: 'dead' }, { order: 'newest', limit: 20 });
   * ```
   */
  async find(filter: JobFilter = {}, page: PageOptions = {}): Promise<JobPage> {
    checkFilter(filter);
    const list = filter.state === 'scheduled' ? 'scheduled' : 'jobs';
    const request = resolvePage('Invalid page', page, list);
    const { jobs, next } = await this.#parts.store.find(filter, request);
    return { jobs, ...(next && { next: cursorOf(next, list, request.order)! }) };
  }

  /** The lines that the job's runs have logged, by their numbers. */
  async logs(id: number, page: PageOptions = {}): Promise<LogPage> {
    checkJobId(id);
    const request = resolvePage('Invalid page', page, 'logs');
    const { limit, order } = request;
    const found = await this.#parts.store.logs(id, { ...request, limit: limit + 1 });
    const lines = found.slice(0, limit);
    return { lines, ...(found.length > limit && { next: cursorOf([lines.at(-1)!.number], 'logs', order)! }) };
  }

  /** Every queue that a worker has worked, somebody has paused or subscribed, or that has jobs, by name. */
  queues(): Promise<QueueRecord[]> {
    return this.#parts.store.queues();
  }

  /** Every process that works, and those that died without a word within the last day: see `seenAt`. */
  workers(): Promise<WorkerRecord[]> {
    return this.#parts.store.workers();
  }

  /**
   * From now on the queue gets a copy of each message that is published under such a topic, whether or not anything works
   * it yet; a subscription to the same topic is replaced. For handlers, `@QueueProcessor(queue, { topic })` does so.
   *
   * @example
   * ```ts
   * await admin.subscribe('audit.log', { topic: ['user.*', 'order.*'], where: { region: ['eu', 'uk'] } });
   * ```
   */
  async subscribe(queue: string, subscription: SubscriptionOptions): Promise<void> {
    checkQueueName(queue);
    const where = `Cannot subscribe "${queue}"`;
    const {
      topic,
      where: filter,
      ...unknown
    } = isOptions(subscription) ? subscription : noOptions(where, subscription);
    InvalidOptionsError.throwIfAny(where, [
      ...unknownKeys(unknown, ['topic', 'where']),
      ...subscriptionProblems({ topic, where: filter }),
    ]);
    await this.#parts.queues.subscribe(queue, subscriptionsOf(subscription));
  }

  /**
   * Ends the queue's subscription to a topic, as it was written, or all of them; answers how many there were. Copies that
   * the queue has got stay. A handler that declares the topic subscribes anew with its next start.
   */
  async unsubscribe(queue: string, topic?: string): Promise<number> {
    checkQueueName(queue);
    InvalidOptionsError.throwIfAny(
      `Cannot unsubscribe "${queue}"`,
      Array.isArray(topic)
        ? [expected(false, 'one topic, or none to end all subscriptions', topic)]
        : subscriptionProblems({ topic: topic ?? '*' }),
    );
    return this.#parts.queues.unsubscribe(queue, topic);
  }

  /** Which queues get copies of what, by queue and topic. */
  subscriptions(): Promise<SubscriptionRecord[]> {
    return this.#parts.queues.subscriptions();
  }

  /** No process claims jobs of the queue any more, within a poll; what runs goes on. */
  pause(queue: string): Promise<void> {
    return this.#setPaused(queue, true);
  }

  resume(queue: string): Promise<void> {
    return this.#setPaused(queue, false);
  }

  /**
   * Cancels a job. True: it is cancelled, or it is active and its worker, in whatever process, was notified; then its signal
   * is aborted, and it ends cancelled unless its handler completes all the same. If no notification arrives there
   * (`worker: { doorbell: false }`, a proxy), the worker learns of it with its next heartbeat, within a third of the lease.
   * One that a person holds, or that was handed off, is cancelled at once. False: it is finished, or unknown.
   */
  async cancel(id: number): Promise<boolean> {
    checkJobId(id);
    const { store, runner, optionsFor, awaited } = this.#parts;
    const before = await this.#heard('cancelled', [id]);
    const answer = await store.cancel(id, (queue) => optionsFor(queue).retention.deadMs);
    if (answer.state === 'requested') runner.cancel(id, answer.workerId);
    if (answer.state !== 'cancelled') return answer.state === 'requested';
    awaited.changedForSure(id);
    this.#parts.events.tell('cancelled', before);
    return true;
  }

  /**
   * Starts dead and cancelled jobs anew, with their ids and all their attempts; scheduled ones become due. Takes an id, a
   * list of ids, a filter with at least one condition, or `{ all: true }`, in batches of 500, each in a transaction of its
   * own, and answers how many there were.
   *
   * A filter passes over jobs that were discarded, or failed with an UnrecoverableError, unless it names that `error`: they
   * were to be dead for good. With `rate` or `to`, only dead and cancelled jobs are meant.
   *
   * @example await admin.retry({ queue: 'email.send', state: 'dead', error: 'ECONNREFUSED' }, { rate: '10/s' });
   */
  async retry(which: JobSelection, options: ReplayOptions = {}): Promise<number> {
    const { to, everyMs } = resolveReplay(options);
    const isPlain = to === undefined && everyMs === 0;
    const states = isPlain ? (['scheduled', 'dead', 'cancelled'] as const) : (['dead', 'cancelled'] as const);
    const { store, runner } = this.#parts;
    let moved = 0;
    for (const search of isJobs(which) ? [which] : searchesOf(which, states)) {
      await this.#each(search, async (ids) => {
        const firstMs = moved * everyMs;
        const done = await this.#telling('retried', ids, () =>
          isPlain ? store.retry(ids) : store.replay(ids, { to, firstMs, everyMs }),
        );
        moved += done.length;
        return done;
      });
    }
    if (moved > 0) runner.look();
    return moved;
  }

  /**
   * Removes jobs that are not active, for good. Takes an id, ids, a filter with at least one condition, or `{ all: true }`,
   * and answers how many there were.
   */
  async remove(which: JobSelection): Promise<number> {
    return this.#each(isJobs(which) ? which : filterOf(which), async (ids) => {
      const removed = await this.#telling('removed', ids, () => this.#parts.store.remove(ids));
      for (const id of removed) this.#parts.awaited.changedForSure(id);
      return removed;
    });
  }

  /**
   * Deletes finished jobs past their retention, and answers how many that were, and temporary queues that nobody uses any
   * more. Workers do so by themselves every minute.
   */
  async prune(): Promise<number> {
    let pruned = 0;
    for (;;) {
      const batch = await this.#parts.jobs.prune(BATCH);
      pruned += batch;
      if (batch < BATCH) break;
    }
    await this.#parts.queues.expire();
    return pruned;
  }

  async #setPaused(queue: string, paused: boolean): Promise<void> {
    checkQueueName(queue);
    await this.#parts.store.setPaused(queue, paused);
    this.#parts.runner.look();
  }

  async #telling(event: Steering, ids: readonly number[], act: () => Promise<number[]>): Promise<number[]> {
    const before = await this.#heard(event, ids);
    const done = await act();
    const moved = before.filter(({ id }) => done.includes(id));
    this.#parts.events.tell(event, moved);
    return done;
  }

  /** The jobs as they are, if somebody is to hear of them. */
  async #heard(event: Steering, ids: readonly number[]): Promise<JobRecord[]> {
    if (!this.#parts.events.isHeard(event)) return [];
    const jobs: JobRecord[] = [];
    for (const id of ids) {
      const job = await this.#parts.store.get(id);
      if (job) jobs.push(job);
    }
    return jobs;
  }

  /** In batches, each asked for when the one before is done. */
  async #each(which: Jobs | JobSearch, act: (ids: number[]) => Promise<number[]>): Promise<number> {
    let done = 0;
    for await (const ids of isJobs(which) ? batches(which) : this.#found(which)) done += (await act(ids)).length;
    return done;
  }

  async *#found(search: JobSearch): AsyncGenerator<number[]> {
    for (let after: Position | undefined; ;) {
      const { jobs, next } = await this.#parts.store.findIds(search, { after, limit: BATCH, order: 'oldest' });
      if (jobs.length > 0) yield jobs;
      if (!next) return;
      after = next;
    }
  }
}
