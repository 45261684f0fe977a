import type { JobRecord } from '../../job/job.js';
import type { PageOrder } from '../../job/page-options.js';
import type { AdminStore, JobSearch } from './admin-store.js';
import { startValueOf, orderKeywordsOf } from '../reads/candidates.js';
import { readStates } from '../reads/job-states.js';
import type { Change } from '../features/audit/audit-store.js';
import { inCallerTransaction, type CallerTransaction } from '../core/caller-transaction.js';
import { audited, runChange } from '../features/audit/run-change.js';
import { enterJobs } from '../ends/enter-jobs.js';
import { cancelJob } from './cancel-job.js';
import { releaseJob } from './release-job.js';
import { countJobs } from './count-jobs.js';
import { ERASERS, eraseQueue } from './erase-queue.js';
import { copyOfJob, editJob } from './edit-job.js';
import { findJobs, findJobIds } from './find-jobs.js';
import { READ_FINISHED, READ_LIVE, toJobRecord, type RecordRow } from '../rows/job-record.js';
import { hasQueue, readQueueNames } from './known-queues.js';
import { readFacts } from './read-facts.js';
import { readSuspectFacts } from './read-problem-facts.js';
import { readQueues } from '../features/queues/read-queues.js';
import { removeJobs } from './remove-jobs.js';
import { lockMatching } from './search-conditions.js';
import { replacedJobs, type KeyedEnqueuer } from '../features/keys/keyed-enqueuer.js';
import { makeDue, replayJobs, retryJobs, type MayReenqueue } from './replay-jobs.js';
import { cancelIdleJobs } from '../ends/cancel-idle-jobs.js';
import type { KeyRows } from '../features/keys/key-rows.js';
import { findKeyedReenqueues, keysToReenqueue, reenqueueKeyed, type KeyedReenqueue } from './reenqueue-keyed.js';
import { configureQueue } from '../features/queues/configure-queue.js';
import type { Dialect, SqlDatabase } from '../core/sql-database.js';
import type { StoreParts } from '../rows/store-parts.js';
import { execute, query, type Work } from '../core/statement.js';
import type { TableRow } from '../tables/table-schemas.js';
import { readWorkers } from './read-workers.js';

const selectLogs = (order: PageOrder) => `
  SELECT number, logged_at, line
  FROM {logs}
  WHERE job_id = :id AND number ${orderKeywordsOf(order).beyond} :after
  ORDER BY number ${orderKeywordsOf(order).way}
  LIMIT :limit`;

const SET_PAUSED = `
  UPDATE {queues} {by primary}
  SET paused = :paused
  WHERE queue IN (:queues)`;

const ERASE_BATCH_SIZE = 500;

type LogRow = Omit<TableRow<'logs'>, 'job_id'>;

export function sqlAdminStore(
  { blocking, dialect, scanCursors }: StoreParts,
  keyed: Pick<KeyedEnqueuer, 'ensureRows' | 'lockWithin' | 'enqueue'>,
): AdminStore {
  /**
   * Reads twice, because one read finds a job in neither table if it returns from the history to its queue meanwhile, and
   * because the snapshot of a caller's transaction may be older than the job.
   */
  async function readTwice<T>(read: () => Work<T>, transaction: CallerTransaction | undefined): Promise<T> {
    const first = await (transaction ? inCallerTransaction(blocking, transaction, read) : blocking.runIdempotent(read));
    return first || (await blocking.readLatest(read, transaction));
  }

  function changeMatching<Changed extends { readonly length: number }>(
    ids: readonly number[],
    filter: JobSearch | undefined,
    act: (matching: readonly number[]) => Work<Changed>,
    change: Change | undefined,
    database: Pick<SqlDatabase, 'transaction' | 'holdCallerTransaction'> = blocking,
  ): Promise<Changed> {
    return runChange(
      database,
      change,
      function* () {
        return yield* act(yield* lockMatching(ids, filter));
      },
      lengthOf,
    );
  }

  /** @param to the new queue of the jobs; undefined: each keeps its own */
  async function withKeys(
    ids: readonly number[],
    filter: JobSearch | undefined,
    reenqueue: (matching: readonly number[], mayReenqueue: MayReenqueue) => Work<number[]>,
    change: Change | undefined,
    to?: string,
  ): Promise<number[]> {
    const { transaction } = change ?? {};
    const reenqueues = await findKeyed(ids, to, transaction);
    const keys = keysToReenqueue(reenqueues);
    const actWith = (rows?: KeyRows) => (matching: readonly number[]) =>
      reenqueueKeyed(reenqueues, (mayReenqueue) => reenqueue(matching, mayReenqueue), rows);
    if (keys.length > 0 && transaction)
      return blocking.holdCallerTransaction(transaction, async (send) => {
        const rows = await keyed.lockWithin(keys, transaction, send);
        return changeMatching(ids, filter, actWith(rows), change, {
          transaction: blocking.transaction,
          holdCallerTransaction: (_, act) => act(send),
        });
      });
    if (keys.length > 0) await keyed.ensureRows(keys);
    return changeMatching(ids, filter, actWith(), change);
  }

  /** The finished jobs that acquire their keys again. */
  async function findKeyed(
    ids: readonly number[],
    to: string | undefined,
    transaction: CallerTransaction | undefined,
  ): Promise<KeyedReenqueue[]> {
    const read = () => findKeyedReenqueues(ids, to);
    const latest = await blocking.readLatest(read, transaction);
    const own = transaction ? await inCallerTransaction(blocking, transaction, read) : [];
    return [...new Map([...own, ...latest].map((each) => [each.id, each])).values()];
  }

  return {
    counts: (queue) => blocking.runIdempotent(() => countJobs(queue ?? null)),
    get: (id, transaction) => readTwice(() => readJob(id), transaction),

    async states(ids, transaction) {
      const work = () => readStates(ids);
      const states = transaction ? inCallerTransaction(blocking, transaction, work) : blocking.runIdempotent(work);
      return [...(await states).values()];
    },

    facts: (id, orderOf) => readTwice(() => readFacts(id, orderOf), undefined),
    problemFacts: (suspects) => blocking.runIdempotent(() => readSuspectFacts(suspects)),
    find: (search, page) => blocking.runIdempotent(() => findJobs(search, page, dialect)),

    findIds(search, page, transaction) {
      const work = () => findJobIds(search, page, dialect);
      return transaction ? inCallerTransaction(blocking, transaction, work) : blocking.runIdempotent(work);
    },

    async logs(id, { after, limit, order }) {
      const values = { id, limit, after: after?.[0] ?? startValueOf(order) };
      const rows = await blocking.runIdempotent(() => query<LogRow>(selectLogs(order), values));
      return rows.map(({ number, logged_at, line }) => ({ number, at: new Date(Number(logged_at)), line }));
    },

    hasQueue: (queue, transaction) => readTwice(() => hasQueue(queue), transaction),
    queueNames: () => blocking.runIdempotent(() => readQueueNames(dialect)),
    queues: () => blocking.runIdempotent(() => readQueues(dialect)),

    workers: () => blocking.runIdempotent(readWorkers),

    setPaused: (queues, paused, change) =>
      runChange(
        blocking,
        change,
        () => setPaused(dialect, queues, paused),
        () => queues.length,
      ),
    configure: (queue, given, change) => runChange(blocking, change, () => configureQueue(dialect, queue, given)),

    cancel: (id, retentionMs, change, filter) =>
      runChange(
        blocking,
        change,
        () => cancelJob(id, retentionMs, change?.transaction !== undefined, filter),
        ({ state }) => (state === 'too-late' ? 0 : 1),
        (result) => (result.state === 'requested' ? [result.queue] : []),
      ),

    release: (id, change) =>
      runChange(
        blocking,
        change,
        () => releaseJob(id, change?.transaction !== undefined),
        (released) => (released ? 1 : 0),
      ),

    cancelIdle: (ids, retentionMs, change, filter) =>
      changeMatching(ids, filter, (matching) => cancelIdleJobs(matching, retentionMs), change),
    promote: (ids, change, filter) => changeMatching(ids, filter, (matching) => makeDue(matching, 'promoted'), change),
    retry: (ids, change, filter) =>
      withKeys(ids, filter, (matching, mayReenqueue) => retryJobs(matching, mayReenqueue), change),
    replay: (ids, replay, change, filter) =>
      withKeys(ids, filter, (matching, mayReenqueue) => replayJobs(matching, replay, mayReenqueue), change, replay.to),

    async edit(id, queue, edit, change) {
      const countOf = (found: string | undefined) => (found === undefined ? 0 : 1);
      const edited = await runChange(
        blocking,
        change,
        () => editJob(id, queue, edit),
        countOf,
        (found) => (found === undefined ? [] : [found]),
      );
      return edited !== undefined;
    },

    copyOf: (id, transaction) => readTwice(() => copyOfJob(id), transaction),

    async enqueueCopy(job, change = {}) {
      const { transaction } = change;
      const work = () => audited(enterJobs([job]), change);
      const [id] = await (transaction ? inCallerTransaction(blocking, transaction, work) : blocking.transactOnce(work));
      return id!;
    },

    async enqueueKeyed(job, change = {}) {
      const [result] = await keyed.enqueue([[job]], change);
      scanCursors.moveBefore(replacedJobs([job], result!));
      return result!;
    },

    async eraseQueue(queue, change) {
      for (const erase of ERASERS)
        while ((await blocking.transaction(() => erase(queue, ERASE_BATCH_SIZE))) === ERASE_BATCH_SIZE);
      await runChange(blocking, change, () => eraseQueue(queue));
    },

    remove: (ids, change, filter) => changeMatching(ids, filter, removeJobs, change),
  };
}

/** Locks the queues in the order of their names. */
function* setPaused(dialect: Pick<Dialect, 'addQueues'>, given: readonly string[], paused: boolean): Work<void> {
  const queues = [...new Set(given)].sort();
  const set = () => execute(SET_PAUSED, { queues, paused: paused ? 1 : 0 });
  if ((yield* set()) === queues.length) return;
  // A queue without a worker has no row yet.
  yield* dialect.addQueues(queues);
  yield* set();
}

const lengthOf = ({ length }: { readonly length: number }) => length;

function* readJob(id: number): Work<JobRecord | null> {
  const [live] = yield* query<RecordRow>(READ_LIVE, { ids: [id] });
  const [found] = live ? [live] : yield* query<RecordRow>(READ_FINISHED, { ids: [id] });
  return found ? toJobRecord(found) : null;
}
