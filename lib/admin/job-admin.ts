import type { AuditedCall } from '../audit/audit-trail.js';
import { resolveBulk } from '../job/bulk-options.js';
import { changedStates, type BulkVerb } from '../job/changed-states.js';
import { PRIORITY } from '../job/enqueue-options.js';
import { InvalidOptionsError } from '../job/errors.js';
import type { JobExplanation } from '../job/explain/job-reason.js';
import type { JobRecord } from '../job/job.js';
import { checkQueueName, checkJobId } from '../job/identifiers.js';
import { expected, requireOptions } from '../job/expectation.js';
import { cursorOf, pageOf, resolvePage, type PageOptions } from '../job/page-options.js';
import { snoozeProblem, toDelay, type SnoozeUntil } from '../job/snooze.js';
import type { JobCounts, JobEdit, JobFilter, JobPage, LogPage, StateOfJob } from '../store/admin/admin-store.js';
import type { AdminParts } from './admin-parts.js';
import { cancelJobs } from './cancel-jobs.js';
import { explainJob } from './explain-job.js';
import { duplicateJob, updateJob, type DuplicateOptions, type JobUpdate } from './edit-job.js';
import {
  partsFor,
  partsForJobs,
  type ChangeOptions,
  type JobChangeOptions,
  type JobReplayOptions,
} from './in-transaction.js';
import { JobBatches } from './job-batches.js';
import { previewJobs, type JobPreview, type PreviewOptions } from './preview-jobs.js';
import {
  callOf,
  checkFilter,
  checkIds,
  givenFilter,
  idBatchesOf,
  isJobIds,
  type JobSelection,
} from './job-selection.js';
import { requireSelectedQueue } from './require-queue.js';
import { promoteJobs, retryJobs } from './retry-jobs.js';

/** The part of QueueAdmin that reads and changes jobs. */
export abstract class JobAdmin {
  readonly #parts: AdminParts;

  constructor(parts: AdminParts) {
    this.#parts = parts;
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
   * The states and queues of those of the jobs that exist, in no order. It reads 500 jobs per statement, and no payloads.
   *
   * @throws InvalidOptionsError if `ids` is no list, or a value is no job id
   */
  async states(ids: readonly number[]): Promise<StateOfJob[]> {
    const problem = expected(Array.isArray(ids), 'a list of job ids', ids);
    InvalidOptionsError.throwIfAny('Cannot read the states of jobs', [problem]);
    checkIds(ids);
    const found: StateOfJob[] = [];
    for (const batch of idBatchesOf(ids)) found.push(...(await this.#parts.store.states(batch)));
    return found;
  }

  /**
   * Why the job does not run: its queue is paused, no worker serves it, a limit is reached, it waits for other jobs, a signal,
   * a time … Several reasons may hold at once; that which needs an action comes first, and each has a sentence for people. An
   * active or finished job is explained, too. It shows no payload, takes no locks and reads at most some thousand rows.
   *
   * @throws JobNotFoundError
   * @example for (const { text } of (await admin.explain(id)).reasons) console.log(text);
   */
  explain(id: number): Promise<JobExplanation> {
    return explainJob(this.#parts, id);
  }

  /**
   * Finds jobs in the order of their ids, which is the order of enqueuing, or of their due times with the state
   * `scheduled`.
   *
   * A page takes milliseconds in a table of any size. Only `queue` and `state` have an index. With other
   * conditions, a page examines at most 1,000 jobs and may be short or empty. Pass `next` as `after` until a page has no
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
    return pageOf(await this.#parts.store.find(filter, request), list, request);
  }

  /** The log lines of all attempts of the job, in the order of their numbers. */
  async logs(id: number, page: PageOptions = {}): Promise<LogPage> {
    checkJobId(id);
    const request = resolvePage('Invalid page', page, 'logs');
    const { limit, order } = request;
    const found = await this.#parts.store.logs(id, { ...request, limit: limit + 1 });
    const lines = found.slice(0, limit);
    return { lines, ...(found.length > limit && { next: cursorOf([lines.at(-1)!.number], 'logs', order) }) };
  }

  /**
   * Cancels a job. Resolves with true if the job is cancelled, or if it is running. The worker of a running job, in any
   * process, then aborts its signal, and the job ends cancelled unless its handler completes nevertheless. The worker
   * learns of the request at once or, if no notification arrives, with its next heartbeat, within a third of the lease. An
   * assigned job, or one that was handed off, is cancelled at once. Resolves with false if the job is finished or unknown.
   */
  cancel(id: number, options?: ChangeOptions): Promise<boolean>;
  /**
   * Cancels selected jobs: a list of ids, a filter with at least one condition, or `{ all: true }`. Works in batches of 500
   * jobs. Resolves with the number of jobs that are cancelled, or that are running and will be. A filter without a state, an
   * owner and a worker searches again until it finds no further job, because jobs that fail meanwhile are scheduled. Like
   * `retry`, `promote` and `remove` it rejects with QueueNotFoundError if the filter names a queue that does not exist.
   */
  cancel(which: Exclude<JobSelection, number>, options?: JobChangeOptions): Promise<number>;
  cancel(which: JobSelection, options: JobChangeOptions = {}): Promise<boolean | number> {
    return cancelJobs(this.#parts, which, options);
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
  retry(which: JobSelection, options: JobReplayOptions = {}): Promise<number> {
    return retryJobs(this.#parts, which, options);
  }

  /**
   * How many jobs a verb would change now, and how many it would leave as they are, by the reason: their state, or
   * `unrecoverable`, or `unknown`. Changes nothing, and counts each number up to 10,000, so that it takes milliseconds to
   * seconds in a table of any size. With ids the numbers are exact. With `dryRun` the verb itself counts only the jobs that it
   * would change, and all of them.
   *
   * A retry takes its `rate`, `to`, `create` and `completed`, which decide about its jobs. The numbers are of no single moment:
   * a job whose state changes meanwhile may count twice or not at all. The verb itself may differ by jobs that wait for each
   * other in a flow, and by jobs whose keys other jobs own.
   *
   * @throws InvalidOptionsError for ids, a filter or options that the verb refuses, and QueueNotFoundError if the filter or `to`
   * names a queue that does not exist
   * @example
   * ```ts
   * const { changes, skips } = await admin.preview('cancel', { queue: 'email.send', name: 'newsletter' });
   * console.log(`${changes.value} jobs, without ${skips.completed?.value ?? 0} completed ones`);
   * ```
   */
  preview(verb: BulkVerb, which: JobSelection, options: PreviewOptions = {}): Promise<JobPreview> {
    return previewJobs(this.#parts, verb, which, options);
  }

  /**
   * Makes scheduled jobs due now: delayed, snoozed and retried ones. Selects and works like `retry`. Resolves with the
   * number of jobs.
   */
  promote(which: JobSelection, options: JobChangeOptions = {}): Promise<number> {
    return promoteJobs(this.#parts, which, options);
  }

  /**
   * Takes an active job from its worker, which may hang, or from the person who has it. The job waits again, and its attempt
   * does not count. The signal of a handler that still runs is aborted, and its outcome does not count, but it may overlap
   * with the next run. Resolves with whether the job was active.
   */
  async release(id: number, options: ChangeOptions = {}): Promise<boolean> {
    checkJobId(id);
    const { store, audit, notifier, events, groups } = partsFor(this.#parts, `Cannot release job ${id}`, options);
    const released = await audit.change({ verb: 'release', which: id }, (change) => store.release(id, change));
    if (!released) return false;
    if (released.leftGroup) await groups.wake(released.leftGroup.queue, released.leftGroup.group);
    events.emitChanges('released', [released]);
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
  async reschedule(id: number, until: SnoozeUntil, options: ChangeOptions = {}): Promise<boolean> {
    checkJobId(id);
    InvalidOptionsError.throwIfAny(`Cannot reschedule job ${id}`, [snoozeProblem(until)]);
    return this.#edit({ verb: 'reschedule', options: { until } }, id, { delay: toDelay(until, 0) }, options);
  }

  /**
   * Changes the priority of a waiting, scheduled or blocked job, -32768 to 32767; smaller numbers run first. Resolves with
   * whether it is changed: not if the job is claimed, finished or unknown.
   *
   * @throws InvalidOptionsError
   */
  async reprioritise(id: number, priority: number, options: ChangeOptions = {}): Promise<boolean> {
    checkJobId(id);
    InvalidOptionsError.throwIfAny(`Cannot reprioritise job ${id}`, PRIORITY.problems('priority', priority));
    return this.#edit({ verb: 'reprioritise', options: { priority } }, id, { priority }, options);
  }

  /**
   * Replaces the payload or the headers of a job that is not claimed. Resolves with whether it is changed: not if the job is
   * claimed, finished or unknown. Rejects with PayloadInvalidError or PayloadTooLargeError like `enqueue`.
   *
   * @example await admin.update(id, { payload: { ...job.payload, to: 'new@example.com' } });
   */
  update(id: number, update: JobUpdate, options: ChangeOptions = {}): Promise<boolean> {
    return updateJob(this.#parts, id, update, options);
  }

  /**
   * Enqueues a copy of a job in any state, with its options, and without its key and its flow. Resolves with the id of the
   * copy, or with null if the job does not exist. Rejects like `enqueue`, also for a `delay` that is not shorter than the
   * `expiresIn` of the job.
   */
  duplicate(id: number, differences: DuplicateOptions = {}): Promise<number | null> {
    return duplicateJob(this.#parts, id, differences);
  }

  /**
   * Deletes jobs that are not active. Selects jobs by an id, a list of ids, a filter with at least one condition, or
   * `{ all: true }`. Works in batches of 500 jobs, each in its own transaction. Resolves with the number of deleted
   * jobs.
   */
  async remove(which: JobSelection, given: JobChangeOptions = {}): Promise<number> {
    const { manager, ...options } = requireOptions('Cannot remove', given);
    const bulk = resolveBulk('Cannot remove', options, ['manager']);
    const parts = partsForJobs(this.#parts, 'Cannot remove', which, bulk, manager);
    const { store, audit, followEnds } = parts;
    const states = changedStates('remove');
    const filter = givenFilter(which);
    const selections = [isJobIds(which) ? which : filter!];
    const call = callOf('remove', which, options);
    await requireSelectedQueue(parts, which);
    return audit.record(call, (changes) =>
      new JobBatches(parts).inBatches('removed', selections, states, bulk, async (ids) => {
        const removed = await changes.run((change) => store.remove(ids, change, filter));
        await followEnds(removed);
        return removed;
      }),
    );
  }

  async #edit(call: Omit<AuditedCall, 'which'>, id: number, edit: JobEdit, options: ChangeOptions): Promise<boolean> {
    const { store, audit, notifier } = partsFor(this.#parts, `Cannot ${call.verb} job ${id}`, options);
    const isChanged = await audit.change({ ...call, which: id }, (change) => store.edit(id, undefined, edit, change));
    if (isChanged) notifier.poll();
    return isChanged;
  }
}
