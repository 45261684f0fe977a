import type { JobRecord } from '../../job/job.js';
import type { PageOrder, PageRequest } from '../../job/page-options.js';
import type * as port from '../admin-store.js';
import { readNames } from '../../job/read-columns.js';
import { startOf, wordsOf } from './candidates.js';
import { cancelJob } from './cancel.js';
import { countJobs } from './counts.js';
import type { Dialect } from './dialect.js';
import { find, findIds } from './find.js';
import { GET_FINISHED, GET_LIVE, jobRecord, type RecordRow } from './job-record.js';
import { removeJobs } from './remove.js';
import type { KeyedJobs } from './keyed-jobs.js';
import { replayJobs, retryJobs, type MayStart } from './replay.js';
import { keyedReturns, putBackKeyed } from './put-back-keyed.js';
import type { SqlDatabase } from './sql-database.js';
import { change, query, type Work } from './statement.js';

const logsIn = (order: PageOrder) => `
  SELECT number, logged_at, line
  FROM {logs}
  WHERE job_id = :id AND number ${wordsOf(order).beyond} :after
  ORDER BY number ${wordsOf(order).way}
  LIMIT :limit`;

const QUEUES = `
  SELECT queue, paused, expires_after_ms
  FROM {queues}`;

const WORKERS = `
  SELECT id, host, pid, queues, started_at, seen_at
  FROM {workers}
  ORDER BY started_at, id`;

const SET_PAUSED = `
  UPDATE {queues} /*! FORCE INDEX (PRIMARY) */
  SET paused = :paused
  WHERE queue = :queue`;

interface QueueRow {
  queue: string;
  paused: number;
  expires_after_ms: number | null;
}

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
    private readonly keyed: Pick<KeyedJobs, 'provide'>,
  ) {}

  counts(queue: string | null = null): Promise<port.JobCounts> {
    return this.database.repeatable(() => countJobs(queue));
  }

  async get(id: number): Promise<JobRecord | null> {
    // Twice, since a job that moves to the history between the two looks would be seen in neither.
    const look = () => this.database.repeatable(() => get(id));
    return (await look()) ?? (await look());
  }

  find(search: port.JobSearch, page: PageRequest): Promise<port.Found<JobRecord>> {
    return this.database.repeatable(() => find(search, page, this.dialect));
  }

  findIds(search: port.JobSearch, page: PageRequest): Promise<port.Found<number>> {
    return this.database.repeatable(() => findIds(search, page, this.dialect));
  }

  async logs(id: number, { after, limit, order }: PageRequest): Promise<port.LogLine[]> {
    const values = { id, limit, after: after?.[0] ?? startOf(order) };
    const rows = await this.database.repeatable(() =>
      query<{ number: number; logged_at: number; line: string }>(logsIn(order), values),
    );
    return rows.map(({ number, logged_at, line }) => ({ number, at: new Date(Number(logged_at)), line }));
  }

  queues(): Promise<port.QueueRecord[]> {
    return this.database.repeatable(() => queues(this.dialect));
  }

  async workers(): Promise<port.WorkerRecord[]> {
    const rows = await this.database.repeatable(() => query<WorkerRow>(WORKERS));
    return rows.map(({ started_at, seen_at, queues, ...row }) => ({
      ...row,
      queues: readNames(queues),
      startedAt: new Date(Number(started_at)),
      seenAt: new Date(Number(seen_at)),
    }));
  }

  async setPaused(queue: string, paused: boolean): Promise<void> {
    const set = () => this.database.repeatable(() => change(SET_PAUSED, { queue, paused: paused ? 1 : 0 }));
    // The row of a temporary queue may go at any moment; one that is new stays.
    if ((await set()) > 0) return;
    await this.database.repeatable(() => this.dialect.addQueue(queue));
    await set();
  }

  cancel(id: number, keepMs: (queue: string) => number | false): Promise<port.CancelAnswer> {
    return this.database.transaction(() => cancelJob(id, keepMs));
  }

  retry(ids: readonly number[]): Promise<number[]> {
    return this.#withKeys(ids, (mayStart) => retryJobs(ids, mayStart));
  }

  replay(ids: readonly number[], replay: port.Replay): Promise<number[]> {
    return this.#withKeys(ids, (mayStart) => replayJobs(ids, replay, mayStart), replay.to);
  }

  remove(ids: readonly number[]): Promise<number[]> {
    return this.database.transaction(() => removeJobs(ids));
  }

  /** @param to the queue they go to; undefined: each to its own */
  async #withKeys(
    ids: readonly number[],
    putBack: (mayStart: MayStart) => Work<number[]>,
    to?: string,
  ): Promise<number[]> {
    const returns = await this.database.repeatable(() => keyedReturns(ids, to));
    if (returns.length > 0) await this.keyed.provide(returns);
    return this.database.transaction(() => putBackKeyed(returns, putBack));
  }
}

function* get(id: number): Work<JobRecord | null> {
  const [live] = yield* query<RecordRow>(GET_LIVE, { id });
  const [found] = live ? [live] : yield* query<RecordRow>(GET_FINISHED, { id });
  return found ? jobRecord(found) : null;
}

/** An enqueue writes no row for its queue: that would be a statement more for each job. */
function* queues(dialect: Dialect): Work<port.QueueRecord[]> {
  const used = (yield* dialect.queueNames('jobs')).map((queue) => ({ queue, paused: 0, expires_after_ms: null }));
  const rows = yield* query<QueueRow>(QUEUES);
  const byName = new Map([...used, ...rows].map((row) => [row.queue, row]));
  const records = [...byName.values()].map(({ queue, paused, expires_after_ms }) => ({
    ...{ queue, paused: paused > 0 },
    expiresAfterMs: expires_after_ms === null ? null : Number(expires_after_ms),
  }));
  return records.sort((one, other) => (one.queue < other.queue ? -1 : 1));
}
