import { EntitySchema } from 'typeorm';
import type { Tables } from '../tables.js';
import { bigint } from './columns.js';

/** That a process waits for a job to end. */
export interface SqlQueueWaitRow {
  /** The process, by a random number. */
  waiter: number;
  jobId: number;
  /** When nobody waits any more unless the process says so again. */
  expiresAt: number;
}

export function waitEntity(tables: Tables, name: string): EntitySchema<SqlQueueWaitRow> {
  return new EntitySchema<SqlQueueWaitRow>({
    name,
    tableName: tables.waits,
    synchronize: false,
    columns: {
      waiter: { ...bigint('waiter'), primary: true },
      jobId: { ...bigint('job_id'), primary: true },
      expiresAt: bigint('expires_at'),
    },
    indices: [
      { name: `${tables.waits}_expiry`, columns: ['expiresAt'] },
      { name: `${tables.waits}_job`, columns: ['jobId', 'waiter'] },
    ],
  });
}
