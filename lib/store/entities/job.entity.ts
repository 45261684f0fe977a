import { EntitySchema } from 'typeorm';
import type { LiveState } from '../../job/job-state.js';
import type { Tables } from '../tables.js';
import { bigint, filledIn, int, nullable, smallint, text, tinyint, varchar, zeroAsNull } from './columns.js';

/** A job that is not finished, as it is stored. Times are milliseconds since 1970 by the database's clock. */
export interface SqlQueueJobRow {
  id: number;
  queue: string;
  name: string;
  /** When a scheduled job is due; null for all others. */
  runAt: number | null;
  state: LiveState;
  /** 1 for waiting and active jobs, 2 for those among them that stand in a stage, 0 for scheduled ones. */
  runnable: number;
  priority: number;
  attempt: number;
  /** 0: as often as whoever claims it says. */
  maxAttempts: number | null;
  /** The claim that has the job while it is active; in the column 0 stands for null. */
  claimId: number | null;
  createdAt: number;
  /** JSON, as are the texts below. */
  payload: string;
  headers: string | null;
  options: string | null;
  error: string | null;
  /** When a job that was delayed or retried became due; null for one that was due when it was enqueued. */
  dueAt: number | null;
}

export function jobEntity(tables: Tables, name: string): EntitySchema<SqlQueueJobRow> {
  return new EntitySchema<SqlQueueJobRow>({
    name,
    tableName: tables.jobs,
    synchronize: false,
    columns: {
      id: { ...bigint('id'), primary: true, generated: 'increment' },
      queue: varchar('queue', 100),
      name: { ...varchar('name', 100), default: 'default' },
      runAt: nullable(bigint('run_at')),
      state: filledIn(varchar('state', 10)),
      runnable: filledIn(tinyint('runnable')),
      priority: { ...smallint('priority'), default: 0 },
      attempt: filledIn(int('attempt')),
      maxAttempts: { ...nullable(int('max_attempts')), default: 0 },
      claimId: { ...filledIn(bigint('claim_id')), transformer: zeroAsNull },
      createdAt: filledIn(bigint('created_at')),
      payload: text('payload'),
      headers: nullable(text('headers')),
      options: nullable(text('options')),
      error: nullable(filledIn(text('error'))),
      dueAt: nullable(filledIn(bigint('due_at'))),
    },
    indices: [{ name: `${tables.jobs}_claim`, columns: ['queue', 'runnable', 'runAt', 'priority', 'id'] }],
  });
}
