import { EntitySchema } from 'typeorm';
import type { ChangeName } from '../../job/queue-event.js';
import type { Tables } from '../tables.js';
import { bigint, int, nullable, text, varchar } from './columns.js';

/** What became of a job of a queue with the option `events`, for ten minutes. */
export interface SqlQueueEventRow {
  id: number;
  event: ChangeName;
  queue: string;
  jobId: number;
  name: string;
  attempt: number;
  /** How long the run took, in milliseconds. */
  ranMs: number | null;
  /** When the job may run again, in milliseconds from then. */
  delayMs: number | null;
  recordedAt: number;
  /** JSON, as is the error. */
  result: string | null;
  error: string | null;
  /** The owner who held the job; null if none did. */
  owner: string | null;
}

export function eventEntity(tables: Tables, name: string): EntitySchema<SqlQueueEventRow> {
  return new EntitySchema<SqlQueueEventRow>({
    name,
    tableName: tables.events,
    synchronize: false,
    columns: {
      id: { ...bigint('id'), primary: true, generated: 'increment' },
      event: varchar('event', 20),
      queue: varchar('queue', 100),
      jobId: bigint('job_id'),
      name: varchar('name', 100),
      attempt: int('attempt'),
      ranMs: nullable(bigint('ran_ms')),
      delayMs: nullable(bigint('delay_ms')),
      recordedAt: bigint('recorded_at'),
      result: nullable(text('result')),
      error: nullable(text('error')),
      owner: nullable(varchar('owner', 255)),
    },
  });
}
