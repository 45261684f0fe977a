import { EntitySchema } from 'typeorm';
import type { Tables } from '../tables.js';
import { bigint, tinyint, varchar } from './columns.js';

/** A queue that some worker has worked or somebody has paused. */
export interface SqlQueueQueueRow {
  queue: string;
  /** 1 where it is paused everywhere. */
  paused: number;
  createdAt: number;
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
    },
  });
}
