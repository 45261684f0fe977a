import { EntitySchema } from 'typeorm';
import type { Tables } from '../tables.js';
import { bigint } from './columns.js';

/** A line on which a process puts jobs in, one transaction after the other. */
export interface SqlQueueProducerRow {
  id: number;
  /** Of its last transaction that committed; -1 once the line is closed. */
  number: number;
  /** The first id that its last INSERT has given, and how far these are apart. */
  firstId: number;
  idStep: number;
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
      firstId: bigint('first_id'),
      idStep: bigint('id_step'),
      seenAt: bigint('seen_at'),
    },
  });
}
