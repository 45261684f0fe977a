import { EntitySchema } from 'typeorm';
import type { Tables } from '../tables.js';
import { bigint, int, text } from './columns.js';

/** A line that a job's run has logged. */
export interface SqlQueueLogRow {
  jobId: number;
  /** 1 for the job's first line. */
  number: number;
  loggedAt: number;
  line: string;
}

export function logEntity(tables: Tables, name: string): EntitySchema<SqlQueueLogRow> {
  return new EntitySchema<SqlQueueLogRow>({
    name,
    tableName: tables.logs,
    synchronize: false,
    columns: {
      jobId: { ...bigint('job_id'), primary: true },
      number: { ...int('number'), primary: true },
      loggedAt: bigint('logged_at'),
      line: text('line'),
    },
  });
}
