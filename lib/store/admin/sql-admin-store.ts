import type { JobRecord, NewJob } from '../../job/job.js';
import type { PageOrder, PageRequest } from '../../job/page-options.js';
import type * as port from './admin-store.js';
import { readNames } from '../../job/read-columns.js';
import { startValueOf, orderKeywordsOf } from './candidates.js';
import { cancelJob } from './cancel-job.js';
import { releaseJob } from './release-job.js';
import { countJobs } from './count-jobs.js';
import { copyOfJob, editJob } from './edit-job.js';
import { findJobs, findJobIds } from './find-jobs.js';
import { GET_FINISHED, GET_LIVE, toJobRecord, type RecordRow } from '../jobs/job-record.js';
import { readQueues } from './read-queues.js';
import { removeJobs } from './remove-jobs.js';
import type { KeyedEnqueuer } from '../keys/keyed-enqueuer.js';
import { makeDue, replayJobs, retryJobs, type MayReenqueue } from './replay-jobs.js';
import { cancelIdleJobs } from '../flows/settle-jobs.js';
import type { EventJob } from '../jobs/job-events.js';
import { findKeyedReenqueues, reenqueueKeyed } from '../keys/reenqueue-keyed.js';
import type { Dialect, SqlDatabase } from '../core/sql-database.js';
import { execute, query, type Work } from '../core/statement.js';

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

interface WorkerRow {
  id: string;
  host: string;
  pid: number;
  queues: string;
  started_at: number;
  seen_at: number;
}

export class SqlAdminStore implements port.AdminStore {
  constructor(
    private readonly database: SqlDatabase,
    private readonly dialect: Dialect,
    private readonly keyed: Pick<KeyedEnqueuer, 'ensureRows'>,
  ) {}

  counts(queue: string | null = null): Promise<port.JobCounts> {
    return this.database.runIdempotent(() => countJobs(queue));
  }

  async get(id: number): Promise<JobRecord | null> {
    // Reads twice, because one read finds a job in neither table if it returns from the history to its queue meanwhile.
    const read = () => this.database.runIdempotent(() => readJob(id));
    return (await read()) ?? (await read());
  }

  find(search: port.JobSearch, page: PageRequest): Promise<port.FoundJobs<JobRecord>> {
    return this.database.runIdempotent(() => findJobs(search, page, this.dialect));
  }

  findIds(search: port.JobSearch, page: PageRequest): Promise<port.FoundJobs<number>> {
    return this.database.runIdempotent(() => findJobIds(search, page, this.dialect));
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

  async setPaused(queue: string, paused: boolean): Promise<void> {
    const set = () => this.database.runIdempotent(() => execute(SET_PAUSED, { queue, paused: paused ? 1 : 0 }));
    // A new queue has no row, and that of a temporary queue may expire at any moment. A row that was just added stays.
    if ((await set()) > 0) return;
    await this.database.runIdempotent(() => this.dialect.addQueue(queue));
    await set();
  }

  cancel(id: number, retentionMs: (queue: string) => number | false): Promise<port.CancelResult> {
    return this.database.transaction(() => cancelJob(id, retentionMs));
  }

  release(id: number): Promise<port.ReleasedJob | undefined> {
    return this.database.transaction(() => releaseJob(id));
  }

  cancelIdle(ids: readonly number[], retentionMs: (queue: string) => number | false): Promise<readonly EventJob[]> {
    return this.database.transaction(() => cancelIdleJobs(ids, retentionMs));
  }

  promote(ids: readonly number[]): Promise<number[]> {
    return this.database.transaction(() => makeDue(ids, 'promoted'));
  }

  retry(ids: readonly number[]): Promise<number[]> {
    return this.#withKeys(ids, (mayReenqueue) => retryJobs(ids, mayReenqueue));
  }

  replay(ids: readonly number[], replay: port.Replay): Promise<number[]> {
    return this.#withKeys(ids, (mayReenqueue) => replayJobs(ids, replay, mayReenqueue), replay.to);
  }

  edit(id: number, queue: string | undefined, edit: port.JobEdit): Promise<boolean> {
    return this.database.transaction(() => editJob(id, queue, edit));
  }

  async copyOf(id: number): Promise<NewJob | undefined> {
    const read = () => this.database.runIdempotent(() => copyOfJob(id));
    return (await read()) ?? (await read());
  }

  remove(ids: readonly number[]): Promise<number[]> {
    return this.database.transaction(() => removeJobs(ids));
  }

  /** @param to the new queue of the jobs; undefined: each keeps its own */
  async #withKeys(
    ids: readonly number[],
    reenqueue: (mayReenqueue: MayReenqueue) => Work<number[]>,
    to?: string,
  ): Promise<number[]> {
    const reenqueues = await this.database.runIdempotent(() => findKeyedReenqueues(ids, to));
    if (reenqueues.length > 0) await this.keyed.ensureRows(reenqueues);
    return this.database.transaction(() => reenqueueKeyed(reenqueues, reenqueue));
  }
}

function* readJob(id: number): Work<JobRecord | null> {
  const [live] = yield* query<RecordRow>(GET_LIVE, { id });
  const [found] = live ? [live] : yield* query<RecordRow>(GET_FINISHED, { id });
  return found ? toJobRecord(found) : null;
}
