import type { JobRecord } from '../job/job.js';
import { checkJobId } from '../job/job-id.js';
import { InvalidOptionsError } from '../job/errors.js';
import type { FlowRecord } from '../job/flows/flow-record.js';
import { checkQueueName } from '../job/job-names.js';
import { limitChangeProblems, type LimitChange } from '../job/limits/limit-options.js';
import { cursorOf, resolvePage, type PageOptions } from '../job/page-options.js';
import { resolveReplay, type ReplayOptions } from '../job/replay-options.js';
import { subscriptionsOf, type SubscriptionOptions } from '../job/topics.js';
import type { JobCounts, JobFilter, JobPage, LogPage, QueueRecord, WorkerRecord } from '../store/admin/admin-store.js';
import type { SubscriptionRecord } from '../store/topics/queue-store.js';
import type { AdminParts } from './admin-parts.js';
import { listGroups, QueueGroup, type GroupPage, type GroupPageOptions } from './queue-group.js';
import { cancelFlow, checkFlowId, failedJobsOf, type FlowSelection } from './flow-actions.js';
import { JobActions } from './job-actions.js';
import { ADMIN_BATCH_SIZE, checkFilter, filterOf, isJobIds, searchesOf, type JobSelection } from './job-selection.js';
import { checkSubscription, checkUnsubscribe } from './subscription-checks.js';

/**
 * Reads and changes jobs, queues and subscriptions of all processes that use the database. Calls reject with
 * InvalidOptionsError before any SQL, and with StoreUnavailableError if the database is unavailable.
 */
export class QueueAdmin {
  readonly #parts: AdminParts;
  readonly #actions: JobActions;

  /** @internal Nest injects it. */
  constructor(parts: AdminParts) {
    this.#parts = parts;
    this.#actions = new JobActions(parts);
  }

  /** The number of jobs in each state, in one queue or in all. */
  async counts(queue?: string): Promise<JobCounts> {
    if (queue !== undefined) checkQueueName(queue);
    return this.#parts.store.counts(queue);
  }

  /** The job in any state; null if it does not exist or was pruned after its retention. */
  async get(id: number): Promise<JobRecord | null> {
    checkJobId(id);
    return this.#parts.store.get(id);
  }

  /**
   * Finds jobs in the order of their ids, which is the order of enqueuing, or of their due times with the state
   * `scheduled`.
   *
   * A page takes milliseconds in a table of any size. No index covers `name`, `error`, `finishedAfter` and
   * `finishedBefore`, so a page examines at most 5,000 jobs and may be short or empty. Pass `next` as `after` until a
   * page has no `next`.
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

  /** The log lines of all attempts of the job, in the order of their numbers. */
  async logs(id: number, page: PageOptions = {}): Promise<LogPage> {
    checkJobId(id);
    const request = resolvePage('Invalid page', page, 'logs');
    const { limit, order } = request;
    const found = await this.#parts.store.logs(id, { ...request, limit: limit + 1 });
    const lines = found.slice(0, limit);
    return { lines, ...(found.length > limit && { next: cursorOf([lines.at(-1)!.number], 'logs', order)! }) };
  }

  /** All queues that have jobs, or that were ever served by a worker, paused or subscribed, by name. */
  queues(): Promise<QueueRecord[]> {
    return this.#parts.store.queues();
  }

  /** All running workers, and those that crashed within the last day. `seenAt` is the time of the last heartbeat. */
  workers(): Promise<WorkerRecord[]> {
    return this.#parts.store.workers();
  }

  /**
   * Subscribes the queue to topics: from now on it gets a copy of each message with a matching topic, even if no worker
   * serves the queue yet. A subscription to the same topic is replaced. `@QueueProcessor(queue, { topic })` subscribes
   * the queue of a handler.
   *
   * @example
   * ```ts
   * await admin.subscribe('audit.log', { topic: ['user.*', 'order.*'], where: { region: ['eu', 'uk'] } });
   * ```
   */
  async subscribe(queue: string, subscription: SubscriptionOptions): Promise<void> {
    checkSubscription(queue, subscription);
    await this.#parts.queues.subscribe(queue, subscriptionsOf(subscription));
  }

  /**
   * Removes the subscription of the queue to a topic, written as it was subscribed, or all its subscriptions. Resolves
   * with the number of removed subscriptions. Copies in the queue stay. A worker whose handler declares the topic
   * subscribes again when it starts.
   */
  async unsubscribe(queue: string, topic?: string): Promise<number> {
    checkUnsubscribe(queue, topic);
    return this.#parts.queues.unsubscribe(queue, topic);
  }

  /** The subscriptions of all queues, by queue and topic. */
  subscriptions(): Promise<SubscriptionRecord[]> {
    return this.#parts.queues.subscriptions();
  }

  /** Pauses the queue: within a poll, all processes stop claiming its jobs. Running jobs continue. */
  pause(queue: string): Promise<void> {
    return this.#setPaused(queue, true);
  }

  /** Ends the pause of the queue in all processes. */
  resume(queue: string): Promise<void> {
    return this.#setPaused(queue, false);
  }

  /**
   * Changes the limits of a queue for all processes, within a poll: `maxRunning` and `rate` hold instead of those in the
   * options of the queue, also after a restart, and `rest` lets the queue start no job for a time. Options that are not
   * given stay as they are. Null: both limits are as in the options again, and a rest ends. Running jobs continue.
   *
   * @example await admin.limit('crm.push', { maxRunning: 50, rate: { limit: 100, per: '1s' } });
   */
  async limit(queue: string, change: LimitChange | null): Promise<void> {
    checkQueueName(queue);
    InvalidOptionsError.throwIfAny('Cannot limit the queue', limitChangeProblems(change));
    await this.#parts.limits.setLimits(queue, change);
    this.#parts.notifier.poll();
  }

  /** One group of the queue, whether it has jobs or not. */
  group(queue: string, group: string): QueueGroup {
    return new QueueGroup(this.#parts, queue, group);
  }

  /** The groups of the queue, in the order of their names. A group that was idle for an hour may be missing. */
  groups(queue: string, page: GroupPageOptions = {}): Promise<GroupPage> {
    return listGroups(this.#parts, queue, page);
  }

  /**
   * Cancels a job. Resolves with true if the job is cancelled, or if it is running. The worker of a running job, in any
   * process, then aborts its signal, and the job ends cancelled unless its handler completes nevertheless. The worker
   * learns of the request at once or, if no notification arrives, with its next heartbeat, within a third of the lease. An
   * assigned job, or one that was handed off, is cancelled at once. Resolves with false if the job is finished or unknown.
   */
  async cancel(id: number): Promise<boolean> {
    checkJobId(id);
    const { store, notifier, optionsFor, waitNotifier } = this.#parts;
    const before = await this.#actions.readForEvent('cancelled', [id]);
    const result = await store.cancel(id, (queue) => optionsFor(queue).retention.deadMs);
    if (result.state === 'requested') notifier.cancel(id, result.workerId);
    if (result.state !== 'cancelled') return result.state === 'requested';
    waitNotifier.notifyAlways(id);
    this.#parts.events.emit('cancelled', before);
    if (result.isInFlow) await this.#parts.flowSettler.settle([id]);
    return true;
  }

  /** The jobs of a flow with their states, each after those that it needs; null if the flow does not exist any more. */
  async flow(id: number): Promise<FlowRecord | null> {
    checkFlowId(id);
    return this.#parts.flows.read(id);
  }

  /** Cancels the jobs of a flow that are not finished, as `cancel` does. Resolves with their number. */
  cancelFlow(id: number, which: FlowSelection = {}): Promise<number> {
    return cancelFlow(this.#parts, id, which, (jobId) => this.cancel(jobId));
  }

  /** Starts the dead and cancelled jobs of a flow anew, each after those that it needs. Resolves with their number. */
  async retryFlow(id: number, which: FlowSelection = {}): Promise<number> {
    return this.retry(await failedJobsOf(this.#parts, id, which));
  }

  /**
   * Starts dead and cancelled jobs anew, with their ids and all their attempts, and makes scheduled jobs due. Selects
   * jobs by an id, a list of ids, a filter with at least one condition, or `{ all: true }`. Works in batches of 500
   * jobs, each in its own transaction. Resolves with the number of jobs.
   *
   * A filter skips jobs that were discarded or failed with an UnrecoverableError, unless it names that `error`, because
   * such jobs are meant to stay dead. With `rate` or `to` it selects only dead and cancelled jobs.
   *
   * @example await admin.retry({ queue: 'email.send', state: 'dead', error: 'ECONNREFUSED' }, { rate: '10/s' });
   */
  async retry(which: JobSelection, options: ReplayOptions = {}): Promise<number> {
    const { to, intervalMs } = resolveReplay(options);
    const isPlain = to === undefined && intervalMs === 0;
    const states = isPlain ? (['scheduled', 'dead', 'cancelled'] as const) : (['dead', 'cancelled'] as const);
    const { store, notifier, flowSettler } = this.#parts;
    let moved = 0;
    for (const search of isJobIds(which) ? [which] : searchesOf(which, states)) {
      await this.#actions.inBatches('retried', search, async (ids) => {
        const firstMs = moved * intervalMs;
        const retried = await (isPlain ? store.retry(ids) : store.replay(ids, { to, firstMs, intervalMs }));
        moved += retried.length;
        // A job of a flow may wait for others, which may have ended meanwhile.
        await flowSettler.recheck(retried);
        return retried;
      });
    }
    if (moved > 0) notifier.poll();
    return moved;
  }

  /**
   * Deletes jobs that are not active. Selects jobs by an id, a list of ids, a filter with at least one condition, or
   * `{ all: true }`. Works in batches of 500 jobs, each in its own transaction. Resolves with the number of deleted
   * jobs.
   */
  async remove(which: JobSelection): Promise<number> {
    const { store, waitNotifier, flowSettler } = this.#parts;
    return this.#actions.inBatches('removed', isJobIds(which) ? which : filterOf(which), async (ids) => {
      const removed = await store.remove(ids);
      for (const id of removed) waitNotifier.notifyAlways(id);
      await flowSettler.settle(removed);
      return removed;
    });
  }

  /**
   * Deletes finished jobs whose retention is over, or moves them to the archive, and deletes empty, unused temporary
   * queues. Resolves with the number of those jobs. Workers do this every minute.
   */
  async prune(): Promise<number> {
    let pruned = 0;
    for (;;) {
      const batch = await this.#parts.jobs.prune(ADMIN_BATCH_SIZE);
      pruned += batch;
      if (batch < ADMIN_BATCH_SIZE) break;
    }
    await this.#parts.queues.expire();
    return pruned;
  }

  async #setPaused(queue: string, paused: boolean): Promise<void> {
    checkQueueName(queue);
    await this.#parts.store.setPaused(queue, paused);
    this.#parts.notifier.poll();
  }
}
