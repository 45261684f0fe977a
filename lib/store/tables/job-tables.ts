import type { FinalState, LiveState } from '../../job/job-state.js';
import {
  bigint,
  filledByDatabase,
  fixedWord,
  generated,
  int,
  label,
  NOW,
  nullable,
  primary,
  smallint,
  tableSchema,
  text,
  tinyint,
  withDefault,
  word,
  zeroAsNull,
  type RowOf,
} from './columns.js';
import { ARRIVING, IN_QUEUE, SCHEDULED } from './runnable.js';

const CREATED_AT = { mysql: `(${NOW.mysql})`, sqlite: `(${NOW.sqlite})` };

// A default of SQLite cannot read another column, so a plain INSERT with a run_at or a group makes a waiting job with
// runnable = IN_QUEUE there. Claims skip it until it is due.
const FIRST_STATE = { mysql: `(IF(run_at IS NULL, 'waiting', 'scheduled'))`, sqlite: `'waiting'` };
const FIRST_RUNNABLE = {
  mysql: `(IF(run_at IS NULL, IF(group_key = '', ${IN_QUEUE}, ${ARRIVING}), ${SCHEDULED}))`,
  sqlite: `${IN_QUEUE}`,
};

/**
 * A plain INSERT of queue and payload makes a complete job by the defaults. A claim changes no column's length, so InnoDB
 * updates the row in place: half the cost of a row that grows, because jobs enqueued one after another fill their pages.
 */
export const jobTable = tableSchema({
  entity: 'SqlQueueJob',
  columns: {
    id: generated(bigint('id')),
    queue: word('queue', 100),
    name: withDefault(word('name', 100), 'default'),
    /** The time at which a scheduled job is due; null for all other jobs. */
    runAt: nullable(bigint('run_at')),
    state: filledByDatabase(fixedWord<LiveState>('state', 10), FIRST_STATE),
    /**
     * 0 for a scheduled job. Of a waiting or active job: 2 in a stage, 3 in its group, 4 on the way into its group, 5 if it
     * has returned to its group, 6 if it is blocked, 1 for all others.
     */
    runnable: filledByDatabase(tinyint('runnable'), FIRST_RUNNABLE),
    priority: withDefault(smallint('priority'), 0),
    attempt: filledByDatabase(int('attempt'), '0'),
    /** 0 until the first claim: the queue's option decides then. */
    maxAttempts: withDefault(nullable(int('max_attempts')), 0),
    /** The claim of an active job; null for all other jobs, stored as 0. */
    claimId: zeroAsNull(filledByDatabase(bigint('claim_id'), '0')),
    createdAt: filledByDatabase(bigint('created_at'), CREATED_AT),
    /** JSON, like the headers, the options and the error. */
    payload: text('payload'),
    headers: nullable(text('headers')),
    options: nullable(text('options')),
    error: nullable(filledByDatabase(text('error'))),
    /**
     * The time at which a delayed or retried job became due; null for a job that was due when it was enqueued. A scheduled
     * job has none, unless it waits between two runs in a group.
     */
    dueAt: nullable(filledByDatabase(bigint('due_at'))),
    /** Empty: none. */
    groupKey: withDefault(label('group_key', 100), ''),
  },
  indexes: { queue: ['queue', 'runnable', 'runAt', 'groupKey', 'priority', 'id'] },
});

/** The row of a job that is not finished. Times are milliseconds since 1970 by the database's clock. */
export interface SqlQueueJobRow extends RowOf<(typeof jobTable)['columns']> {}

export const historyTable = tableSchema({
  entity: 'SqlQueueHistory',
  columns: {
    id: primary(bigint('id')),
    queue: word('queue', 100),
    name: word('name', 100),
    state: word<FinalState>('state', 10),
    priority: smallint('priority'),
    attempt: int('attempt'),
    maxAttempts: nullable(int('max_attempts')),
    /** The worker of the last attempt; null if the job was cancelled before its first attempt. */
    workerId: nullable(word('worker_id', 36)),
    createdAt: bigint('created_at'),
    startedAt: nullable(bigint('started_at')),
    finishedAt: bigint('finished_at'),
    /** The end of the retention. */
    expiresAt: bigint('expires_at'),
    /** JSON, like the headers, the options, the result and the error. */
    payload: text('payload'),
    headers: nullable(text('headers')),
    options: nullable(text('options')),
    result: nullable(text('result')),
    error: nullable(text('error')),
    /**
     * The time at which a delayed or retried job became due for its last attempt; null for a job that was due when it was
     * enqueued.
     */
    dueAt: nullable(bigint('due_at')),
    /** The last owner through QueueConsumer; null if a worker ran the job. */
    owner: nullable(label('owner', 255)),
  },
  indexes: { expiry: ['expiresAt'], state: ['queue', 'state', 'id'] },
});

const { expiry: _, ...archiveIndexes } = historyTable.indexes!;

/** An archive is never pruned. */
export const archiveTable = { ...historyTable, indexes: archiveIndexes };

/** The row of a finished job, until its retention ends. Times are milliseconds since 1970 by the database's clock. */
export interface SqlQueueHistoryRow extends RowOf<(typeof historyTable)['columns']> {}
