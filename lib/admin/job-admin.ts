import { resolveBulk, type BulkOptions } from '../job/bulk-options.js';
import { PRIORITY } from '../job/enqueue-options.js';
import { InvalidOptionsError } from '../job/errors.js';
import type { JobRecord } from '../job/job.js';
import { expected } from '../job/expectation.js';
import { checkJobId } from '../job/job-id.js';
import { checkQueueName } from '../job/job-names.js';
import { JOB_STATES } from '../job/job-state.js';
import { cursorOf, resolvePage, type PageOptions } from '../job/page-options.js';
import { resolveReplay, type ReplayOptions } from '../job/replay-options.js';
import { snoozeProblem, toDelay, type SnoozeUntil } from '../job/snooze.js';
import type { JobCounts, JobFilter, JobPage, LogPage } from '../store/admin/admin-store.js';
import type { AdminParts } from './admin-parts.js';
import { cancelAll } from './cancel-jobs.js';
import { duplicateJob, updateJob, type DuplicateOptions, type JobUpdate } from './edit-job.js';
import { JobActions } from './job-actions.js';
import {
  checkFilter,
  filterOf,
  isJobIds,
  searchesOf,
  withoutUnrecoverable,
  type JobSelection,
} from './job-selection.js';

/** The part of QueueAdmin that reads and changes jobs. */
export abstract class JobAdmin {
  readonly #parts: AdminParts;
  readonly #actions: JobActions;

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
   * A page takes milliseconds in a table of any size. Only `queue` and `state` have an index. With other
   * conditions, a page examines at most 5,000 jobs and may be short or empty. Pass `next` as `after` until a page has no
   * `next`.
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

  /**
   * Cancels a job. Resolves with true if the job is cancelled, or if it is running. The worker of a running job, in any
   * process, then aborts its signal, and the job ends cancelled unless its handler completes nevertheless. The worker
   * learns of the request at once or, if no notification arrives, with its next heartbeat, within a third of the lease. An
   * assigned job, or one that was handed off, is cancelled at once. Resolves with false if the job is finished or unknown.
   */
  cancel(id: number): Promise<boolean>;
  /**
   * Cancels selected jobs: a list of ids, a filter with at least one condition, or `{ all: true }`. Works in batches of 500
   * jobs. Resolves with the number of jobs that are cancelled, or that are running and will be.
   */
  cancel(which: Exclude<JobSelection, number>, options?: BulkOptions): Promise<number>;
  async cancel(which: JobSelection, options: BulkOptions = {}): Promise<boolean | number> {
    const cancelOne = (id: number) => this.#cancelOne(id);
    if (typeof which === 'number') {
      const isPlain = Object.keys(options).length === 0;
      InvalidOptionsError.throwIfAny('Cannot cancel', [
        expected(isPlain, 'no options for a single id (pass a list of ids)', options),
      ]);
      return cancelOne(which);
    }
    const bulk = resolveBulk('Cannot cancel', options);
    const states = ['scheduled', 'waiting', 'blocked', 'active'] as const;
    const selections = isJobIds(which) ? [which] : searchesOf('Cannot cancel', which, states);
    return this.#actions.inBatches(undefined, selections, states, bulk, (ids) =>
      cancelAll(this.#parts, ids, cancelOne),
    );
  }

  /**
   * Starts dead and cancelled jobs anew, with their ids and all their attempts, and makes scheduled jobs due. Selects
   * jobs by an id, a list of ids, a filter with at least one condition, or `{ all: true }`. Works in batches of 500
   * jobs, each in its own transaction. Resolves with the number of jobs.
   *
   * A filter skips jobs that were discarded or failed with an UnrecoverableError, unless it names that `error`, because
   * such jobs are meant to stay dead. With `rate`, `to` or `completed` it selects only finished jobs.
   *
   * @example await admin.retry({ queue: 'email.send', state: 'dead', error: 'ECONNREFUSED' }, { rate: '10/s' });
   */
  async retry(which: JobSelection, options: ReplayOptions = {}): Promise<number> {
    const { to, intervalMs, ...bulk } = resolveReplay(options);
    const completed = bulk.completed || (!isJobIds(which) && (which as JobFilter | undefined)?.state === 'completed');
    const isPlain = to === undefined && intervalMs === 0 && !completed;
    const finished = completed ? (['completed', 'dead', 'cancelled'] as const) : (['dead', 'cancelled'] as const);
    const states = isPlain ? (['scheduled', ...finished] as const) : finished;
    const { store, notifier, flowSettler } = this.#parts;
    const selections = isJobIds(which) ? [which] : withoutUnrecoverable(searchesOf('Cannot retry', which, states));
    const moved = await this.#actions.inBatches('retried', selections, states, bulk, async (ids, before) => {
      const firstMs = before * intervalMs;
      const retried = await (isPlain ? store.retry(ids) : store.replay(ids, { to, firstMs, intervalMs, completed }));
      // A job of a flow may wait for others, which may have ended meanwhile.
      await flowSettler.recheck(retried);
      return retried;
    });
    if (moved > 0) notifier.poll();
    return moved;
  }

  /**
   * Makes scheduled jobs due now: delayed, snoozed and retried ones. Selects and works like `retry`. Resolves with the
   * number of jobs.
   */
  async promote(which: JobSelection, options: BulkOptions = {}): Promise<number> {
    const bulk = resolveBulk('Cannot promote', options);
    const states = ['scheduled'] as const;
    const selections = isJobIds(which) ? [which] : searchesOf('Cannot promote', which, states);
    const { store, notifier } = this.#parts;
    const promoted = await this.#actions.inBatches('promoted', selections, states, bulk, (ids) => store.promote(ids));
    if (promoted > 0) notifier.poll();
    return promoted;
  }

  /**
   * Takes an active job from its worker, which may hang, or from the person who has it. The job waits again, and its attempt
   * does not count. The signal of a handler that still runs is aborted, and its outcome does not count, but it may overlap
   * with the next run. Resolves with whether the job was active.
   */
  async release(id: number): Promise<boolean> {
    checkJobId(id);
    const { store, notifier, events } = this.#parts;
    const released = await store.release(id);
    if (!released) return false;
    events.emit('released', [released]);
    if (released.owner === null) notifier.readCancelRequests(released.workerId);
    notifier.wake(released.queue);
    return true;
  }

  /**
   * Makes a job due at a date, or after a duration from now, by the clock of the database. Resolves with whether the job is
   * scheduled: not if it is claimed, blocked, finished or unknown.
   *
   * @example await admin.reschedule(id, new Date('2027-01-01T08:00:00Z'));
   */
  async reschedule(id: number, until: SnoozeUntil): Promise<boolean> {
    checkJobId(id);
    InvalidOptionsError.throwIfAny(`Cannot reschedule job ${id}`, [snoozeProblem(until)]);
    const { store, notifier } = this.#parts;
    const isScheduled = await store.edit(id, undefined, { delay: toDelay(until, 0) });
    if (isScheduled) notifier.poll();
    return isScheduled;
  }

  /**
   * Changes the priority of a job, -32768 to 32767; smaller numbers run first. Resolves with whether it is changed: not if
   * the job is claimed, finished or unknown.
   */
  async reprioritise(id: number, priority: number): Promise<boolean> {
    checkJobId(id);
    InvalidOptionsError.throwIfAny(`Cannot reprioritise job ${id}`, PRIORITY.problems('priority', priority));
    const isChanged = await this.#parts.store.edit(id, undefined, { priority });
    if (isChanged) this.#parts.notifier.poll();
    return isChanged;
  }

  /**
   * Replaces the payload or the headers of a job that is not claimed. Resolves with whether it is changed: not if the job is
   * claimed, finished or unknown. Rejects with PayloadInvalidError or PayloadTooLargeError like `enqueue`.
   *
   * @example await admin.update(id, { payload: { ...job.payload, to: 'new@example.com' } });
   */
  update(id: number, update: JobUpdate): Promise<boolean> {
    return updateJob(this.#parts, id, update);
  }

  /**
   * Enqueues a copy of a job in any state, with its options, and without its key and its flow. Resolves with the id of the
   * copy, or with null if the job does not exist. Rejects with PayloadInvalidError or PayloadTooLargeError like `enqueue`.
   */
  duplicate(id: number, differences: DuplicateOptions = {}): Promise<number | null> {
    return duplicateJob(this.#parts, id, differences);
  }

  /**
   * Deletes jobs that are not active. Selects jobs by an id, a list of ids, a filter with at least one condition, or
   * `{ all: true }`. Works in batches of 500 jobs, each in its own transaction. Resolves with the number of deleted
   * jobs.
   */
  async remove(which: JobSelection, options: BulkOptions = {}): Promise<number> {
    const bulk = resolveBulk('Cannot remove', options);
    const { store, waitNotifier, flowSettler } = this.#parts;
    const states = JOB_STATES.filter((state) => state !== 'active');
    const selections = [isJobIds(which) ? which : filterOf(which)];
    return this.#actions.inBatches('removed', selections, states, bulk, async (ids) => {
      const removed = await store.remove(ids);
      for (const id of removed) waitNotifier.notifyAlways(id);
      await flowSettler.settle(removed);
      return removed;
    });
  }

  async #cancelOne(id: number): Promise<boolean> {
    checkJobId(id);
    const { store, notifier, optionsFor, waitNotifier, events, flowSettler } = this.#parts;
    const before = await this.#actions.readForEvent('cancelled', [id]);
    const result = await store.cancel(id, (queue) => optionsFor(queue).retention.deadMs);
    if (result.state === 'requested') notifier.cancel(id, result.workerId);
    if (result.state !== 'cancelled') return result.state === 'requested';
    waitNotifier.notifyAlways(id);
    events.emit('cancelled', before);
    if (result.isInFlow) await flowSettler.settle([id]);
    return true;
  }
}
