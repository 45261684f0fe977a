import { EntitySchema } from 'typeorm';
import type { Tables } from '../tables.js';
import { bigint, nullable, text, varchar } from './columns.js';

/** That a queue gets a copy of each message of a topic. */
export interface SqlQueueSubscriptionRow {
  queue: string;
  /** With a `*` at its end: all that begin so. */
  topic: string;
  /** JSON: by header the text, or the list of texts, that a message must have; null: whatever its headers. */
  headers: string | null;
  createdAt: number;
}

export function subscriptionEntity(tables: Tables, name: string): EntitySchema<SqlQueueSubscriptionRow> {
  return new EntitySchema<SqlQueueSubscriptionRow>({
    name,
    tableName: tables.subscriptions,
    synchronize: false,
    columns: {
      queue: { ...varchar('queue', 100), primary: true },
      topic: { ...varchar('topic', 100), primary: true },
      headers: nullable(text('headers')),
      createdAt: bigint('created_at'),
    },
    indices: [{ name: `${tables.subscriptions}_topic`, columns: ['topic'] }],
  });
}
