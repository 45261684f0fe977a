import { EntitySchema } from 'typeorm';
import type { Tables } from '../tables.js';
import { bigint, nullable, varchar } from './columns.js';

/** A key that jobs of a queue have been put in with, until an hour after its last use. */
export interface SqlQueueKeyRow {
  queue: string;
  /** SHA-256 of the key, in hexadecimal digits. The key itself stands in the options of its jobs. */
  keyHash: string;
  /** The job that took it last; 0 where none has. Whether it still holds it follows from that job. */
  jobId: number;
  heldUntil: 'started' | 'finished' | 'time';
  /** When it is free again, where it is held for a time. */
  expiresAt: number | null;
  /** The row is not deleted before. */
  keptUntil: number;
}

export function keyEntity(tables: Tables, name: string): EntitySchema<SqlQueueKeyRow> {
  return new EntitySchema<SqlQueueKeyRow>({
    name,
    tableName: tables.keys,
    synchronize: false,
    columns: {
      queue: { ...varchar('queue', 100), primary: true },
      keyHash: { ...varchar('key_hash', 64), primary: true },
      jobId: { ...bigint('job_id'), default: 0 },
      heldUntil: { ...varchar('held_until', 10), default: 'finished' },
      expiresAt: nullable(bigint('expires_at')),
      keptUntil: bigint('kept_until'),
    },
    indices: [{ name: `${tables.keys}_unused`, columns: ['keptUntil'] }],
  });
}
