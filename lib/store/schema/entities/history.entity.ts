import type { EntitySchema } from 'typeorm';
import { InvalidOptionsError } from '../../../job/errors.js';
import type { FinalState } from '../../../job/job-state.js';
import { archiveProblems, type ArchiveOptions } from '../archive-options.js';
import { bigint, int, nullable, primary, smallint, text, varchar, type RowOf } from './columns.js';
import { entityOf, tableSchema } from './table-schema.js';

const COLUMNS = {
  id: primary(bigint('id')),
  queue: varchar('queue', 100),
  name: varchar('name', 100),
  state: varchar<FinalState>('state', 10),
  priority: smallint('priority'),
  attempt: int('attempt'),
  maxAttempts: nullable(int('max_attempts')),
  /** The worker of the last attempt; null if the job was cancelled before its first attempt. */
  workerId: nullable(varchar('worker_id', 36)),
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
  owner: nullable(varchar('owner', 255)),
};

const STATE_INDEX = ['queue', 'state', 'id'] as const;

/** The row of a finished job, until its retention ends. Times are milliseconds since 1970 by the database's clock. */
export interface SqlQueueHistoryRow extends RowOf<typeof COLUMNS> {}

export const historyTable = tableSchema({
  table: 'history',
  entity: 'SqlQueueHistory',
  columns: COLUMNS,
  indexes: { expiry: ['expiresAt'], state: STATE_INDEX },
});

/**
 * The archive as a TypeORM entity with the name `SqlQueueArchive_` and the table's name, for applications that read it
 * with repositories. It is never synchronized.
 *
 * @throws InvalidOptionsError if `to` is not 1 to 50 of the characters A-Z a-z 0-9 _
 */
export function sqlQueueArchiveEntity({ to }: ArchiveOptions): EntitySchema<SqlQueueHistoryRow> {
  InvalidOptionsError.throwIfAny('Invalid archive', archiveProblems({ to }));
  return entityOf({ columns: COLUMNS, indexes: { state: STATE_INDEX } }, to, `SqlQueueArchive_${to}`);
}
