import { EntitySchema } from 'typeorm';
import { InvalidOptionsError } from '../../job/errors.js';
import type { FinalState } from '../../job/job-state.js';
import { archiveProblems, type ArchiveOptions } from '../archive.js';
import type { Tables } from '../tables.js';
import { bigint, int, nullable, smallint, text, varchar } from './columns.js';

/** A finished job, until its retention ends. Times are milliseconds since 1970 by the database's clock. */
export interface SqlQueueHistoryRow {
  id: number;
  queue: string;
  name: string;
  state: FinalState;
  priority: number;
  attempt: number;
  maxAttempts: number | null;
  /** Who ran it last; null where it was cancelled before. */
  workerId: string | null;
  createdAt: number;
  startedAt: number | null;
  finishedAt: number;
  /** When it may be deleted. */
  expiresAt: number;
  /** JSON, as are the texts below. */
  payload: string;
  headers: string | null;
  options: string | null;
  result: string | null;
  error: string | null;
  /** When a job that was delayed or retried became due for its last run; null for one that was due when it was enqueued. */
  dueAt: number | null;
  /** The person, team or program that held it last through QueueConsumer; null if a worker ran it. */
  owner: string | null;
}

export function historyEntity(tables: Tables, name: string): EntitySchema<SqlQueueHistoryRow> {
  return entityOf(tables.history, name, [{ name: `${tables.history}_expiry`, columns: ['expiresAt'] }]);
}

/**
 * The archive as a TypeORM entity named `SqlQueueArchive_` and its table, for applications that read it with repositories. It
 * is never synchronized.
 */
export function sqlQueueArchiveEntity({ to }: ArchiveOptions): EntitySchema<SqlQueueHistoryRow> {
  InvalidOptionsError.throwIfAny('Invalid archive', archiveProblems({ to }));
  return entityOf(to, `SqlQueueArchive_${to}`, []);
}

function entityOf(
  tableName: string,
  name: string,
  more: { name: string; columns: (keyof SqlQueueHistoryRow)[] }[],
): EntitySchema<SqlQueueHistoryRow> {
  return new EntitySchema<SqlQueueHistoryRow>({
    name,
    tableName,
    synchronize: false,
    columns: {
      id: { ...bigint('id'), primary: true },
      queue: varchar('queue', 100),
      name: varchar('name', 100),
      state: varchar('state', 10),
      priority: smallint('priority'),
      attempt: int('attempt'),
      maxAttempts: nullable(int('max_attempts')),
      workerId: nullable(varchar('worker_id', 36)),
      createdAt: bigint('created_at'),
      startedAt: nullable(bigint('started_at')),
      finishedAt: bigint('finished_at'),
      expiresAt: bigint('expires_at'),
      payload: text('payload'),
      headers: nullable(text('headers')),
      options: nullable(text('options')),
      result: nullable(text('result')),
      error: nullable(text('error')),
      dueAt: nullable(bigint('due_at')),
      owner: nullable(varchar('owner', 255)),
    },
    indices: [...more, { name: `${tableName}_state`, columns: ['queue', 'state', 'id'] }],
  });
}
