import { EntitySchema } from 'typeorm';
import type { Tables } from '../tables.js';
import { bigint, int, nullable, text } from './columns.js';

/** What a job's run said of itself last. */
export interface SqlQueueProgressRow {
  jobId: number;
  /** JSON; null where it has only logged lines. */
  value: string | null;
  /** How many, those included that were left out. */
  linesLogged: number;
  updatedAt: number;
  /** When it is looked whether anything is left of the job. */
  expiresAt: number;
}

export function progressEntity(tables: Tables, name: string): EntitySchema<SqlQueueProgressRow> {
  return new EntitySchema<SqlQueueProgressRow>({
    name,
    tableName: tables.progress,
    synchronize: false,
    columns: {
      jobId: { ...bigint('job_id'), primary: true },
      value: nullable(text('value')),
      linesLogged: int('lines_logged'),
      updatedAt: bigint('updated_at'),
      expiresAt: bigint('expires_at'),
    },
    indices: [{ name: `${tables.progress}_expiry`, columns: ['expiresAt'] }],
  });
}
