import { EntitySchema } from 'typeorm';
import type { Tables } from '../tables.js';
import { bigint, nullable, tinyint, varchar } from './columns.js';

/** A queue that some worker has worked, or somebody has paused or subscribed. */
export interface SqlQueueQueueRow {
  queue: string;
  /** 1 where it is paused everywhere. */
  paused: number;
  createdAt: number;
  /** How long it stays while it is empty and nobody uses it; null: for good. */
  expiresAfterMs: number | null;
  /** When a worker last said that it uses it; null where it never had to. */
  usedAt: number | null;
}

export function queueEntity(tables: Tables, name: string): EntitySchema<SqlQueueQueueRow> {
  return new EntitySchema<SqlQueueQueueRow>({
    name,
    tableName: tables.queues,
    synchronize: false,
    columns: {
      queue: { ...varchar('queue', 100), primary: true },
      paused: { ...tinyint('paused'), default: 0 },
      createdAt: bigint('created_at'),
      expiresAfterMs: nullable(bigint('expires_after_ms')),
      usedAt: nullable(bigint('used_at')),
    },
  });
}
