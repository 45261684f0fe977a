import { pageSize } from '../common/lists.js';
import type { BulkOptions } from '../job/bulk-options.js';
import type { EnqueuedJob } from '../job/enqueued-job.js';
import { checkQueueName } from '../job/identifiers.js';
import type { PayloadOf, QueueName } from '../job/queue-jobs.js';
import { InvalidOptionsError } from '../job/errors.js';
import { limitChangeProblems, type LimitChange } from '../job/limits/limit-options.js';
import type { QueueConfiguration } from '../job/settings/queue-configuration.js';
import type { PageOptions } from '../job/page-options.js';
import type { QueueProblem } from '../job/problems/queue-problem.js';
import type { SubscriptionOptions } from '../job/topics.js';
import type { Diagnosis } from '../job/problems/diagnosis.js';
import type { WorkerRecord } from '../store/admin/admin-store.js';
import type { QueueRecord, SubscriptionRecord } from '../store/features/queues/queue-store.js';
import type { AuditFilter } from '../store/features/audit/audit-store.js';
import type { RekeyCount } from '../store/features/content/content-store.js';
import type { QueueStats } from '../store/features/stats/stats-store.js';
import type { AdminParts } from './admin-parts.js';
import { eraseSubject, type Erasure } from './erase.js';
import { enqueueJob, type AdminEnqueueOptions } from './enqueue-job.js';
import { configureQueue, LIMITS_ARE_LOCKED } from './configure-queue.js';
import { listAudit, type AuditPage } from './list-audit.js';
import { FlowAdmin } from './flow-admin.js';
import { listErrors, type ErrorsOptions, type QueueError } from './list-errors.js';
import { listProblems } from './list-problems.js';
import { refuseManager, type ChangeOptions, type OwnTransaction } from './in-transaction.js';
import { ADMIN_BATCH_SIZE } from './job-selection.js';
import { obliterateQueue, type ObliterateOptions } from './obliterate-queue.js';
import { setPaused, type AllQueues } from './pause-queues.js';
import { listGroups, QueueGroup, type GroupPage, type GroupPageOptions } from './queue-group.js';
import { readHistories, readHistory, type HistoryOptions, type MetricsPoint } from './read-history.js';
import { rekey } from './rekey.js';
import { requireQueue, takeCreate, type QueueChangeOptions, type QueueLimitOptions } from './require-queue.js';
import { readStats, type StatsOptions } from './read-stats.js';
import { subscribe, unsubscribe } from './subscriptions.js';

/**
 * Reads and changes jobs, queues and subscriptions of all processes that use the database. Calls reject with
 * InvalidOptionsError before any SQL, and with StoreUnavailableError if the database is unavailable. A change that names a
 * queue rejects with QueueNotFoundError if the queue does not exist, except `subscribe`, which may create it. A read of such
 * a queue is empty.
 */
export class QueueAdmin extends FlowAdmin {
  readonly #parts: AdminParts;

  /** @internal Nest injects it. */
  constructor(parts: AdminParts) {
    super(parts);
    this.#parts = parts;
  }

  /**
   * The same verbs in the name of a person or a program: each change by them stands in the audit with this name.
   *
   * @param author 1 to 255 characters
   * @example await admin.as(request.user.email).retry(id);
   */
  as(author: string): QueueAdmin {
    return new QueueAdmin({ ...this.#parts, audit: this.#parts.audit.as(author) });
  }

  /**
   * The changes that administrators have made by QueueAdmin and QueueSchedules, in all processes, kept for the
   * `auditRetention` of the module. A call that changed nothing, a dry run and a read have no entry. A call that changes
   * many jobs has one entry, whose count grows.
   *
   * @example
   * ```ts
   * const { entries, next } = await admin.audit({ by: 'ann@example.com', queue: 'email.send' }, { order: 'newest' });
   * ```
   */
  audit(filter: AuditFilter = {}, page: PageOptions = {}): Promise<AuditPage> {
    return listAudit(this.#parts, filter, page);
  }

  /**
   * Enqueues a job by hand, for example a job that a person has lost: like `QueueProducer.enqueue`, with an entry in the
   * audit, which has no payload and no headers. Rejects as `QueueProducer.enqueue` does, and with QueueNotFoundError if the
   * queue does not exist, unless you pass `{ create: true }`.
   *
   * @example await admin.as(request.user.email).enqueue('email.send', { to }, { delay: '10m' });
   */
  enqueue<Queue extends QueueName>(
    queue: Queue,
    payload: PayloadOf<Queue>,
    options: AdminEnqueueOptions = {},
  ): Promise<EnqueuedJob> {
    return enqueueJob(this.#parts, queue, payload, options);
  }

  /** All queues that have jobs, or that were ever served by a worker, paused or subscribed, by name. */
  queues(): Promise<QueueRecord[]> {
    return this.#parts.store.queues();
  }

  /**
   * The statistics of the queues of `queues()`, by name. All processes share samples of at most 2 % of one connection. One
   * call is one statement, or takes the next sample if the last one is older than `maxAge`. Without calls there is none.
   *
   * @example
   * ```ts
   * const [{ waiting, oldestWaitingMs }] = await admin.stats({ queue: 'email.send' });
   * ```
   */
  stats(options: StatsOptions = {}): Promise<QueueStats[]> {
    return readStats(this.#parts, options);
  }

  /**
   * The problems of queues and workers, the most urgent one first: jobs without a worker, failing or late jobs, pauses, blocked
   * groups, claims that no worker rescues, silent workers. `docs/problems.md` has the rules, which the commands `status` and
   * `top` and the alerts share. A problem of the last seconds may be missing.
   *
   * Reads the statistics like `stats()`, and five statements in one round trip beside them; with problems, two round trips
   * more at most. It takes no locks, and its cost does not depend on the number of jobs. Considers at most 50 queues with
   * one kind of problem.
   *
   * @example
   * ```ts
   * const broken = (await admin.problems()).filter(({ severity }) => severity === 'broken');
   * ```
   */
  async problems(options: StatsOptions = {}): Promise<QueueProblem[]> {
    return listProblems(this.#parts.store, await readStats(this.#parts, options), options.queue);
  }

  /**
   * The checks of the database that any process may run: its server or file, durability, tables and clock, and the plan of a
   * claim. The command `doctor` runs them, too, and further ones, which need a privilege, a lock or a connection. `docs/cli.md`
   * has all of them. `unknown`: the account of this process may not read it.
   *
   * Its reads are short, one after the other, about three per table on a server. It takes no locks, and its cost does not
   * depend on the number of jobs.
   *
   * @example
   * ```ts
   * for (const { check, level, facts, wayOut } of await admin.diagnoses())
   *   if (level === 'problem') console.error(check, facts, wayOut);
   * ```
   */
  diagnoses(): Promise<Diagnosis[]> {
    return this.#parts.diagnose();
  }

  /**
   * The attempts of the queue, or of several queues together, that ended within a time, and percentiles of their wait and run
   * times. Every process saves the attempts that ended in it every ten seconds; a process that is killed loses those. Up to 50
   * queues are one statement; with more than 200 steps fewer are, so that a statement reads 10,000 steps at most. Minutes are kept for a day, hours for 30 days, days for a year, in UTC.
   *
   * @example
   * ```ts
   * const points = await admin.history('email.send', { from: new Date(Date.now() - 3_600_000), step: 'minute' });
   * ```
   */
  history(queue: string | readonly string[], range: HistoryOptions = {}): Promise<MetricsPoint[]> {
    return readHistory(this.#parts, queue, range);
  }

  /**
   * Like `history`, with the points of each queue apart. A queue without attempts has an empty list. It sends as many
   * statements as `history` does for these queues.
   *
   * @example
   * ```ts
   * const points = (await admin.histories(['email.send', 'crm.push'], { step: 'hour' })).get('crm.push')!;
   * ```
   */
  histories(queues: readonly string[], range: HistoryOptions = {}): Promise<Map<string, MetricsPoint[]>> {
    return readHistories(this.#parts, queues, range);
  }

  /**
   * The failed attempts of all processes by their errors, the most frequent ones first: of all queues or one, within the last
   * hour or a range. Attempts that were retried count, too. Every process counts up to 100 errors of a queue in a minute, and
   * all others together. It saves them with its metrics: every ten seconds, only if an attempt has failed. Minutes are kept
   * for a day, hours for 30 days, days for a year; an attempt of an hour counts if the hour overlaps the range. With the
   * `step` `'hour'` or `'day'`, a row counts in the step in which it starts.
   *
   * The message is that of the newest job with the error, which the list reads from the job itself: an encrypted one is
   * decoded, an erased one is gone. Hide secrets before you show it. Three statements in two round trips, and a fourth
   * one for another `step`, without locks. They
   * read the newest 20,000 rows of each step, so in a flood of errors the counts are lower bounds.
   *
   * @throws InvalidOptionsError if an option is unknown, no date, or `limit` is not 1 to 200
   * @example
   * ```ts
   * const [worst] = await admin.errors({ queue: 'email.send', from: new Date(Date.now() - 86_400_000) });
   * ```
   */
  errors(options: ErrorsOptions = {}): Promise<QueueError[]> {
    return listErrors(this.#parts.metrics, options);
  }

  /** All running workers, and those that crashed within the last day. `seenAt` is the time of the last heartbeat. */
  workers(): Promise<WorkerRecord[]> {
    return this.#parts.store.workers();
  }

  /**
   * Pauses the queue, or with `{ all: true }` each queue of `queues()`: within a poll, all processes stop claiming its jobs.
   * Running jobs continue. In your transaction, the pause begins with the commit. Like `resume`, `limit` and `configure` it
   * rejects with QueueNotFoundError if the queue does not exist, unless you pass `{ create: true }`.
   */
  pause(which: string | AllQueues, options: QueueChangeOptions = {}): Promise<void> {
    return setPaused(this.#parts, which, true, options);
  }

  /** Ends the pause of the queue, or with `{ all: true }` of each queue, in all processes. */
  resume(which: string | AllQueues, options: QueueChangeOptions = {}): Promise<void> {
    return setPaused(this.#parts, which, false, options);
  }

  /**
   * Changes the limits of a queue for all processes, within a poll: `maxRunning` and `rate` hold instead of those in the
   * options of the queue, also after a restart, and `rest` lets the queue start no job for a time. Options that are not
   * given stay as they are. Null: both limits are as in the options again, and a rest ends. Running jobs continue.
   *
   * @example await admin.limit('crm.push', { maxRunning: 50, rate: { limit: 100, per: '1s' } });
   */
  async limit(queue: string, change: LimitChange | null, options: QueueLimitOptions = {}): Promise<void> {
    checkQueueName(queue);
    refuseManager('Cannot limit the queue', options, LIMITS_ARE_LOCKED);
    InvalidOptionsError.throwIfAny('Cannot limit the queue', limitChangeProblems(change));
    if (!takeCreate('Cannot limit the queue', options).mayCreate) await requireQueue(this.#parts, queue);
    const call = { verb: 'limit', which: queue, options: change, queue } as const;
    const { audit, limits } = this.#parts;
    await audit.change(call, (recorded) => limits.setLimits(queue, change, recorded));
    this.#parts.notifier.poll();
  }

  /**
   * Sets options of a queue for all processes, instead of those of the decorator and the module, also after a restart. Workers
   * apply them with a notification, or within a poll. `paused`, `maxRunning` and `rate` are those of `pause()` and `limit()`.
   * Null: all options are as in the options again, and a pause ends. In your transaction it sets `concurrency`, `paused` and
   * `enabled` only, because claims would wait for changed limits.
   *
   * @example await admin.configure('email.send', { concurrency: 5, enabled: { from: '08:00', to: '18:00', tz: 'Europe/Berlin' } });
   */
  configure(queue: string, settings: QueueConfiguration | null, options: QueueChangeOptions = {}): Promise<void> {
    return configureQueue(this.#parts, queue, settings, options);
  }

  /**
   * Deletes a queue with its jobs in all states, and with its keys, groups, limits, settings, subscriptions, schedules and
   * metrics. Running jobs are taken from their workers and people, waits for its jobs reject, and jobs in other queues that
   * need its jobs settle as after a cancellation. Works in batches; a call that has ended early can be repeated. Stop its
   * workers and producers first: they would create the queue anew. Resolves with the number of removed jobs. Rejects with
   * QueueNotFoundError if the queue does not exist any more.
   *
   * @example await admin.obliterate('old.queue', { confirm: 'old.queue' });
   */
  obliterate(queue: string, options: ObliterateOptions): Promise<number> {
    return obliterateQueue(this.#parts, queue, options);
  }

  /**
   * Subscribes the queue to topics: from now on it gets a copy of each message with a matching topic, even if no worker serves
   * the queue yet, and creates the queue. A subscription to the same topic is replaced. `@QueueProcessor(queue, { topic })` subscribes the queue of
   * a handler. In your transaction the subscription begins with the commit.
   *
   * @example
   * ```ts
   * await admin.subscribe('audit.log', { topic: ['user.*', 'order.*'], where: { region: ['eu', 'uk'] } });
   * ```
   */
  subscribe(queue: string, subscription: SubscriptionOptions, options: ChangeOptions = {}): Promise<void> {
    return subscribe(this.#parts, queue, subscription, options);
  }

  /**
   * Removes the subscription of the queue to a topic, written as it was subscribed, or all its subscriptions. Resolves with
   * their number, or rejects with QueueNotFoundError. Copies in the queue stay. A worker whose handler declares the topic subscribes again when it starts.
   */
  unsubscribe(queue: string, topic?: string, options: ChangeOptions = {}): Promise<number> {
    return unsubscribe(this.#parts, queue, topic, options);
  }

  /** The subscriptions of all queues, by queue and topic. */
  subscriptions(): Promise<SubscriptionRecord[]> {
    return this.#parts.queues.subscriptions();
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
   * Deletes finished jobs whose retention is over, or moves them to the archive, and deletes empty, unused temporary
   * queues. Resolves with the number of those jobs. Workers do this every minute.
   */
  async prune(options: OwnTransaction = {}): Promise<number> {
    refuseManager('Cannot prune', options, 'it deletes jobs in many transactions');
    const limit = pageSize(ADMIN_BATCH_SIZE);
    let pruned = 0;
    for (let batch = limit; batch === limit; pruned += batch) batch = await this.#parts.jobs.prune(limit);
    await this.#parts.queues.expire();
    return pruned;
  }

  /**
   * Erases the content of all jobs with the option `subject`: their payloads, headers, results, errors, keys, progress, logs,
   * steps, events and signals, in the queues, the history and the archives of this process. Jobs that are not finished are
   * cancelled. A running job receives a cancellation request and counts as `active`: call again until `active` is 0. Works in
   * batches of 50 jobs, and may be repeated. `limit` counts jobs. Its entry in the audit does not name the subject.
   *
   * @example await admin.erase('user:42'); // { erased: 7, active: 0 }
   */
  erase(subject: string, options: BulkOptions = {}): Promise<Erasure> {
    return eraseSubject(this.#parts, subject, options);
  }

  /**
   * Encodes all stored content anew with the codec of this process, for example after a rotation of keys, and encodes plain
   * content. Skips current content, active jobs, and content that it cannot decode. Works in batches of 50 rows, and may be
   * repeated at any time. `limit` and `onProgress` count rows. No content has an old key if the result is
   * `{ rekeyed: 0, active: 0, undecodable: 0 }`.
   *
   * @throws InvalidOptionsError if this process has no codec
   */
  rekey(options: BulkOptions = {}): Promise<RekeyCount> {
    return rekey(this.#parts, options);
  }
}
