import { EntitySchema } from 'typeorm';
import type { Tables } from '../tables.js';
import { bigint, int, text, varchar } from './columns.js';

/** A process that works queues, or did until lately. */
export interface SqlQueueWorkerRow {
  id: string;
  host: string;
  pid: number;
  /** JSON: the queues it works. */
  queues: string;
  startedAt: number;
  seenAt: number;
}

export function workerEntity(tables: Tables, name: string): EntitySchema<SqlQueueWorkerRow> {
  return new EntitySchema<SqlQueueWorkerRow>({
    name,
    tableName: tables.workers,
    synchronize: false,
    columns: {
      id: { ...varchar('id', 36), primary: true },
      host: varchar('host', 255),
      pid: int('pid'),
      queues: text('queues'),
      startedAt: bigint('started_at'),
      seenAt: bigint('seen_at'),
    },
  });
}
