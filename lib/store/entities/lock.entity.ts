import { EntitySchema } from 'typeorm';
import type { Tables } from '../tables.js';
import { bigint, varchar } from './columns.js';

/** What a worker that claims by `lock` keeps locked while it lives. */
export interface SqlQueueLockRow {
  id: number;
  workerId: string;
  lockedAt: number;
}

export function lockEntity(tables: Tables, name: string): EntitySchema<SqlQueueLockRow> {
  return new EntitySchema<SqlQueueLockRow>({
    name,
    tableName: tables.locks,
    synchronize: false,
    columns: {
      id: { ...bigint('id'), primary: true },
      workerId: varchar('worker_id', 36),
      lockedAt: bigint('locked_at'),
    },
  });
}
