import type { JobRecord, NewJob } from '../../job/job.js';
import type { QueueConfiguration } from '../../job/settings/queue-configuration.js';
import type { PageOrder, PageRequest } from '../../job/page-options.js';
import type * as port from './admin-store.js';
import { readNames } from '../../job/read-columns.js';
import { startValueOf, orderKeywordsOf } from './candidates.js';
import type { Change } from '../audit/audit-store.js';
import type { CallerTransaction } from '../core/caller-transaction.js';
import { audited, runChange } from '../audit/run-change.js';
import { enqueue } from '../jobs/enqueue.js';
import { cancelJob } from './cancel-job.js';
import { releaseJob } from './release-job.js';
import { countJobs } from './count-jobs.js';
import { ERASERS, eraseQueue, eraseTraces } from './erase-queue.js';
import { copyOfJob, editJob } from './edit-job.js';
import { findJobs, findJobIds } from './find-jobs.js';
import { GET_FINISHED, GET_LIVE, toJobRecord, type RecordRow } from '../jobs/job-record.js';
import { readQueues } from './read-queues.js';
import { removeJobs } from './remove-jobs.js';
import type { KeyedEnqueuer } from '../keys/keyed-enqueuer.js';
import { makeDue, replayJobs, retryJobs, type MayReenqueue } from './replay-jobs.js';
import { cancelIdleJobs } from '../flows/settle-jobs.js';
import type { EventJob } from '../jobs/job-events.js';
import { UNUSED_KEY_RETENTION_MS } from '../keys/key-rows.js';
import { findKeyedReenqueues, reenqueueKeyed, type KeyedReenqueue } from '../keys/reenqueue-keyed.js';
import { configureQueue } from '../settings/configure-queue.js';
import type { Dialect, SqlDatabase } from '../core/sql-database.js';
import { execute, query, type Work } from '../core/statement.js';
import type { TableRow } from '../schema/entities/table-schemas.js';

const selectLogs = (order: PageOrder) => `
  SELECT number, logged_at, line
  FROM {logs}
  WHERE job_id = :id AND number ${orderKeywordsOf(order).beyond} :after
  ORDER BY number ${orderKeywordsOf(order).way}
  LIMIT :limit`;

const WORKERS = `
  SELECT id, host, pid, queues, started_at, seen_at
  FROM {workers}
  ORDER BY started_at, id`;

const SET_PAUSED = `
  UPDATE {queues} /*! FORCE INDEX (PRIMARY) */
  SET paused = :paused
  WHERE queue = :queue`;

const ERASE_BATCH_SIZE = 500;

type WorkerRow = TableRow<'workers'>;

export class SqlAdminStore implements port.AdminStore {
  constructor(
    private readonly database: SqlDatabase,
    private readonly dialect: Dialect,
    private readonly keyed: Pick<KeyedEnqueuer, 'ensureRows'>,
  ) {}

  counts(queue: string | null = null): Promise<port.JobCounts> {
    return this.database.runIdempotent(() => countJobs(queue));
  }

  get(id: number, transaction?: CallerTransaction): Promise<JobRecord | null> {
    return this.#readTwice(() => readJob(id), transaction);
  }

  find(search: port.JobSearch, page: PageRequest): Promise<port.FoundJobs<JobRecord>> {
    return this.database.runIdempotent(() => findJobs(search, page, this.dialect));
  }

  findIds(search: port.JobSearch, page: PageRequest, transaction?: CallerTransaction): Promise<port.FoundJobs<number>> {
    const work = () => findJobIds(search, page, this.dialect);
    return transaction ? this.database.inCallerTransaction(transaction, work) : this.database.runIdempotent(work);
  }

  async logs(id: number, { after, limit, order }: PageRequest): Promise<port.LogLine[]> {
    const values = { id, limit, after: after?.[0] ?? startValueOf(order) };
    const rows = await this.database.runIdempotent(() =>
      query<{ number: number; logged_at: number; line: string }>(selectLogs(order), values),
    );
    return rows.map(({ number, logged_at, line }) => ({ number, at: new Date(Number(logged_at)), line }));
  }

  queues(): Promise<port.QueueRecord[]> {
    return this.database.runIdempotent(() => readQueues(this.dialect));
  }

  async workers(): Promise<port.WorkerRecord[]> {
    const rows = await this.database.runIdempotent(() => query<WorkerRow>(WORKERS));
    return rows.map(({ started_at, seen_at, queues, ...row }) => ({
      ...row,
      queues: readNames(queues),
      startedAt: new Date(Number(started_at)),
      seenAt: new Date(Number(seen_at)),
    }));
  }

  setPaused(queue: string, paused: boolean, change?: Change): Promise<void> {
    return runChange(this.database, change, () => setPaused(this.dialect, queue, paused));
  }

  configure(queue: string, given: QueueConfiguration | null, change?: Change): Promise<void> {
    return runChange(this.database, change, () => configureQueue(this.dialect, queue, given));
  }

  cancel(id: number, retentionMs: (queue: string) => number | false, change?: Change): Promise<port.CancelResult> {
    const work = () => cancelJob(id, retentionMs, change?.transaction !== undefined);
    const queueOf = (result: port.CancelResult) => (result.state === 'requested' ? result.queue : undefined);
    return runChange(this.database, change, work, ({ state }) => (state === 'too-late' ? 0 : 1), queueOf);
  }

  release(id: number, change?: Change): Promise<port.ReleasedJob | undefined> {
    return runChange(
      this.database,
      change,
      () => releaseJob(id, change?.transaction !== undefined),
      (released) => (released ? 1 : 0),
    );
  }

  cancelIdle(
    ids: readonly number[],
    retentionMs: (queue: string) => number | false,
    change?: Change,
  ): Promise<readonly EventJob[]> {
    return runChange(this.database, change, () => cancelIdleJobs(ids, retentionMs), lengthOf);
  }

  promote(ids: readonly number[], change?: Change): Promise<number[]> {
    return runChange(this.database, change, () => makeDue(ids, 'promoted'), lengthOf);
  }

  retry(ids: readonly number[], change?: Change): Promise<number[]> {
    return this.#withKeys(ids, (mayReenqueue) => retryJobs(ids, mayReenqueue), change);
  }

  replay(ids: readonly number[], replay: port.Replay, change?: Change): Promise<number[]> {
    return this.#withKeys(ids, (mayReenqueue) => replayJobs(ids, replay, mayReenqueue), change, replay.to);
  }

  async edit(id: number, queue: string | undefined, edit: port.JobEdit, change?: Change): Promise<boolean> {
    const work = () => editJob(id, queue, edit);
    const edited = await runChange(this.database, change, work, (found) => (found === undefined ? 0 : 1), same);
    return edited !== undefined;
  }

  copyOf(id: number, transaction?: CallerTransaction): Promise<NewJob | undefined> {
    return this.#readTwice(() => copyOfJob(id), transaction);
  }

  async enqueueCopy(job: NewJob, change: Change = {}): Promise<number> {
    const { database } = this;
    const { transaction } = change;
    const work = () => audited(enqueue([job]), change);
    const [id] = await (transaction ? database.inCallerTransaction(transaction, work) : database.transactOnce(work));
    return id!;
  }

  eraseTraces(ids: readonly number[]): Promise<void> {
    return this.database.transaction(() => eraseTraces(ids));
  }

  async eraseQueue(queue: string, change?: Change): Promise<void> {
    for (const erase of ERASERS)
      while ((await this.database.transaction(() => erase(queue, ERASE_BATCH_SIZE))) === ERASE_BATCH_SIZE);
    await runChange(this.database, change, () => eraseQueue(queue));
  }

  remove(ids: readonly number[], change?: Change): Promise<number[]> {
    return runChange(this.database, change, () => removeJobs(ids), lengthOf);
  }

  /**
   * Reads twice, because one read finds a job in neither table if it returns from the history to its queue meanwhile, and
   * because the snapshot of a caller's transaction may be older than the job.
   */
  async #readTwice<T>(read: () => Work<T>, transaction: CallerTransaction | undefined): Promise<T> {
    const { database } = this;
    const first = await (transaction ? database.inCallerTransaction(transaction, read) : database.runIdempotent(read));
    return first ?? (await database.readLatest(read, transaction));
  }

  /** @param to the new queue of the jobs; undefined: each keeps its own */
  async #withKeys(
    ids: readonly number[],
    reenqueue: (mayReenqueue: MayReenqueue) => Work<number[]>,
    change: Change | undefined,
    to?: string,
  ): Promise<number[]> {
    const reenqueues = await this.#findKeyed(ids, to, change?.transaction);
    return runChange(this.database, change, () => reenqueueKeyed(reenqueues, reenqueue), lengthOf);
  }

  /** The jobs that acquire their keys again. The rows of the keys exist then. */
  async #findKeyed(
    ids: readonly number[],
    to: string | undefined,
    transaction: CallerTransaction | undefined,
  ): Promise<KeyedReenqueue[]> {
    const { database, dialect, keyed } = this;
    const read = () => findKeyedReenqueues(ids, to);
    const latest = await database.readLatest(read, transaction);
    const own = transaction ? await database.inCallerTransaction(transaction, read) : [];
    const reenqueues = [...new Map([...own, ...latest].map((each) => [each.id, each])).values()];
    if (reenqueues.length === 0) return [];
    // If the database has one writer, another connection would wait for the caller's transaction.
    if (transaction && dialect.hasOneWriter)
      await database.inCallerTransaction(transaction, () => dialect.addKeys(reenqueues, UNUSED_KEY_RETENTION_MS));
    else await keyed.ensureRows(reenqueues);
    return reenqueues;
  }
}

function* setPaused(dialect: Pick<Dialect, 'addQueue'>, queue: string, paused: boolean): Work<void> {
  const values = { queue, paused: paused ? 1 : 0 };
  // A new queue has no row.
  if ((yield* execute(SET_PAUSED, values)) > 0) return;
  yield* dialect.addQueue(queue);
  yield* execute(SET_PAUSED, values);
}

const same = (queue: string | undefined) => queue;

const lengthOf = ({ length }: { readonly length: number }) => length;

function* readJob(id: number): Work<JobRecord | null> {
  const [live] = yield* query<RecordRow>(GET_LIVE, { id });
  const [found] = live ? [live] : yield* query<RecordRow>(GET_FINISHED, { id });
  return found ? toJobRecord(found) : null;
}
