import { EntitySchema } from 'typeorm';
import type { Tables } from '../tables.js';
import { bigint } from './columns.js';

/** A line on which a process puts jobs in, one transaction after the other. */
export interface SqlQueueProducerRow {
  id: number;
  /** Of its last transaction that committed. */
  number: number;
  seenAt: number;
}

export function producerEntity(tables: Tables, name: string): EntitySchema<SqlQueueProducerRow> {
  return new EntitySchema<SqlQueueProducerRow>({
    name,
    tableName: tables.producers,
    synchronize: false,
    columns: {
      id: { ...bigint('id'), primary: true },
      number: bigint('number'),
      seenAt: bigint('seen_at'),
    },
  });
}
