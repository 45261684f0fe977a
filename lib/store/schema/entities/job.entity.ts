import type { LiveState } from '../../../job/job-state.js';
import {
  bigint,
  filledByDatabase,
  generated,
  int,
  nullable,
  smallint,
  text,
  tinyint,
  varchar,
  withDefault,
  zeroAsNull,
  type RowOf,
} from './columns.js';
import { tableSchema } from './table-schema.js';

const COLUMNS = {
  id: generated(bigint('id')),
  queue: varchar('queue', 100),
  name: withDefault(varchar('name', 100), 'default'),
  /** The time at which a scheduled job is due; null for all other jobs. */
  runAt: nullable(bigint('run_at')),
  state: filledByDatabase(varchar<LiveState>('state', 10)),
  /** 0 for a scheduled job. 2 for a waiting or active job in a stage, 1 for all other jobs. */
  runnable: filledByDatabase(tinyint('runnable')),
  priority: withDefault(smallint('priority'), 0),
  attempt: filledByDatabase(int('attempt')),
  /** 0 until the first claim: the queue's option decides then. */
  maxAttempts: withDefault(nullable(int('max_attempts')), 0),
  /** The claim of an active job; null for all other jobs, stored as 0. */
  claimId: zeroAsNull(filledByDatabase(bigint('claim_id'))),
  createdAt: filledByDatabase(bigint('created_at')),
  /** JSON, like the headers, the options and the error. */
  payload: text('payload'),
  headers: nullable(text('headers')),
  options: nullable(text('options')),
  error: nullable(filledByDatabase(text('error'))),
  /** The time at which a delayed or retried job became due; null for a job that was due when it was enqueued. */
  dueAt: nullable(filledByDatabase(bigint('due_at'))),
};

/** The row of a job that is not finished. Times are milliseconds since 1970 by the database's clock. */
export interface SqlQueueJobRow extends RowOf<typeof COLUMNS> {}

export const jobTable = tableSchema({
  table: 'jobs',
  entity: 'SqlQueueJob',
  columns: COLUMNS,
  indexes: { claim: ['queue', 'runnable', 'runAt', 'priority', 'id'] },
});
