import {
  bigint,
  int,
  nullable,
  primary,
  smallint,
  fixedWord,
  label,
  tableSchema,
  text,
  tinyint,
  withDefault,
  word,
  type StoredRow,
} from './columns.js';
import { adminTables } from './admin-tables.js';
import { featureTables } from './feature-tables.js';
import { historyTable, jobTable } from './job-tables.js';

/** The tables of this release: the source of their names, entities and rows, and of the SQL that creates them. */
export const TABLE_SCHEMAS = {
  jobs: jobTable,

  /** The claims of workers and of claim holders: whose jobs they are, and until when. */
  claims: tableSchema({
    entity: 'SqlQueueClaim',
    columns: {
      id: primary(bigint('id')),
      workerId: word('worker_id', 36),
      queue: word('queue', 100),
      /** JSON: the ids of the jobs, in the order in which they start. */
      jobIds: text('job_ids'),
      /** The number of jobs at the head of the list that may have started. */
      startLimit: int('start_limit'),
      /** The worker lock that the claim depends on; 0: none. */
      lockId: withDefault(bigint('lock_id'), 0),
      leaseMs: bigint('lease_ms'),
      leaseUntil: bigint('lease_until'),
      claimedAt: bigint('claimed_at'),
      /** The position of the last job if the claim took the first jobs of its queue; null: it took others. */
      lastPriority: nullable(smallint('last_priority')),
      lastId: nullable(bigint('last_id')),
      /** JSON: the ids of the jobs with a cancellation request. */
      cancelRequests: nullable(text('cancel_requests')),
      /** The owner of an assigned job; '' if the claim's id is the only proof. Null for the claims of workers. */
      owner: nullable(label('owner', 255)),
      /** The queue that receives a copy of each job of the claim that dies. */
      deadLetter: nullable(word('dead_letter', 100)),
      /** The time until which the owner has snoozed the job without releasing it; null: not snoozed. */
      snoozedUntil: nullable(bigint('snoozed_until')),
    },
    indexes: { position: ['queue', 'lastPriority', 'lastId'] },
  }),

  history: historyTable,

  /** The queues that were claimed from, paused or subscribed. */
  queues: tableSchema({
    entity: 'SqlQueueQueue',
    columns: {
      queue: primary(word('queue', 100)),
      /** 1 if the queue is paused in all processes. */
      paused: withDefault(tinyint('paused'), 0),
      createdAt: bigint('created_at'),
      /** The time without use after which an empty temporary queue is deleted; null: never. */
      expiresAfterMs: nullable(bigint('expires_after_ms')),
      /** The last time at which a worker renewed a temporary queue; null for all other queues. */
      usedAt: nullable(bigint('used_at')),
      /** The time at which a worker served the queue for the first time; null: people or other programs take its jobs. */
      servedAt: nullable(bigint('served_at')),
      /** JSON: the settings of `QueueAdmin.configure` that no other table has; null: none. */
      settings: nullable(text('settings')),
    },
  }),

  /** The processes with a worker. The row of a killed process is deleted after a day. */
  workers: tableSchema({
    entity: 'SqlQueueWorker',
    columns: {
      id: primary(word('id', 36)),
      host: label('host', 255),
      pid: int('pid'),
      /** JSON: each queue of the worker, with the calls of its handlers that may run at once. */
      queues: text('queues'),
      /** The calls of handlers that may run at once, over all queues; null: no limit but those of the queues. */
      slots: nullable(int('slots')),
      /** JSON: the queues whose handlers did not run in that process when it started; null: none. */
      excluded: nullable(text('excluded')),
      startedAt: bigint('started_at'),
      seenAt: bigint('seen_at'),
    },
  }),

  /**
   * The commit lanes: each row counts the transactions that a process commits one after another. Unused on SQLite, which
   * has no connection to lose.
   */
  commit_log: tableSchema({
    entity: 'SqlQueueCommitLog',
    columns: {
      id: primary(bigint('id')),
      /** The number of the last committed transaction; -1 after the lane was closed. */
      number: bigint('number'),
      /** The first id of the last INSERT. */
      firstId: bigint('first_id'),
      /** The step between the ids of the last INSERT. */
      idStep: bigint('id_step'),
      seenAt: bigint('seen_at'),
    },
  }),

  subscriptions: tableSchema({
    entity: 'SqlQueueSubscription',
    columns: {
      queue: primary(word('queue', 100)),
      /** A `*` at the end matches every topic with the same beginning. */
      topic: primary(word('topic', 100)),
      /** JSON: for each header the required text, or the list of accepted texts; null: every message matches. */
      headers: nullable(text('header_filter')),
      createdAt: bigint('created_at'),
    },
    indexes: { topic: ['topic'] },
  }),

  /** A job without a stage has no row. */
  stages: tableSchema({
    entity: 'SqlQueueStage',
    columns: {
      jobId: primary(bigint('job_id')),
      queue: word('queue', 100),
      stage: label('stage', 100),
      /** A copy of the job's priority, so that a stage is read in the order of its queue. */
      priority: smallint('priority'),
    },
    indexes: { claim: ['queue', 'stage', 'priority', 'jobId'] },
  }),

  ...featureTables,

  /** The rows that workers keep locked while they claim by `lock`. Unused on SQLite, which has no row locks. */
  locks: tableSchema({
    entity: 'SqlQueueLock',
    columns: {
      id: primary(bigint('id')),
      workerId: word('worker_id', 36),
      lockedAt: bigint('locked_at'),
    },
  }),

  /** The keys of jobs, kept for at least an hour after their last use. No row changes when a job is claimed or ends. */
  keys: tableSchema({
    entity: 'SqlQueueKey',
    columns: {
      queue: primary(word('queue', 100)),
      /** SHA-256 of the key in hexadecimal digits. The options of a job contain the key itself. */
      keyHash: primary(fixedWord('key_hash', 64)),
      /** The last key owner; 0: none. The state of that job decides whether it still owns the key. */
      jobId: withDefault(bigint('job_id'), 0),
      keyUntil: withDefault(word<'started' | 'finished' | 'time'>('key_until', 10), 'finished'),
      /** The end of the key's time; null if the key is not owned for a time. */
      expiresAt: nullable(bigint('expires_at')),
      /** The time at which the last key owner acquired the key; null: no owner yet. */
      acquiredAt: nullable(bigint('acquired_at')),
      /** The earliest time at which the row may be deleted. */
      keptUntil: bigint('kept_until'),
    },
    indexes: { unused: ['keptUntil'] },
  }),

  /** The schedules: the jobs that they enqueue, and their next ticks. */
  schedules: tableSchema({
    entity: 'SqlQueueSchedule',
    columns: {
      name: primary(word('name', 100)),
      queue: word('queue', 100),
      jobName: word('job_name', 100),
      /** Null if the schedule has `everyMs`. */
      cron: nullable(word('cron', 200)),
      everyMs: nullable(bigint('every_ms')),
      tz: word('tz', 100),
      /** JSON, like the headers and the options: the columns of each job. */
      payload: text('payload'),
      headers: nullable(text('headers')),
      options: nullable(text('options')),
      priority: smallint('priority'),
      maxAttempts: nullable(int('max_attempts')),
      missed: word<'skip' | 'once' | 'all'>('missed', 10),
      missedLimit: int('missed_limit'),
      overlap: word<'allow' | 'skip' | 'one-waiting'>('overlap', 20),
      jitterMs: bigint('jitter_ms'),
      untilAt: nullable(bigint('until_at')),
      /** The first tick without a job; null if the schedule is paused or has ended. */
      nextAt: nullable(bigint('next_at')),
      /** The last tick that enqueued a job. */
      lastAt: nullable(bigint('last_at')),
      lastJobId: nullable(bigint('last_job_id')),
      paused: withDefault(tinyint('paused'), 0),
      source: word<'code' | 'api'>('source', 10),
      /** Of a schedule from code: equal in all processes that declare the same. */
      digest: nullable(word('digest', 64)),
      revision: nullable(word('revision', 100)),
      /** The last time at which a process declared it, within an hour. */
      declaredAt: nullable(bigint('declared_at')),
    },
    indexes: { next: ['nextAt'] },
  }),

  ...adminTables,

  /** The migrations that have made the tables. It has no entity. */
  schema: tableSchema({
    columns: { version: primary(int('version')), appliedAt: bigint('applied_at') },
  }),
};

/** A row of the table, as a statement returns it. */
export type TableRow<Table extends keyof typeof TABLE_SCHEMAS> = StoredRow<(typeof TABLE_SCHEMAS)[Table]['columns']>;
