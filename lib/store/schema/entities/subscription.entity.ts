import { bigint, nullable, primary, text, varchar } from './columns.js';
import { tableSchema } from './table-schema.js';

export const subscriptionTable = tableSchema({
  table: 'subscriptions',
  entity: 'SqlQueueSubscription',
  columns: {
    queue: primary(varchar('queue', 100)),
    /** A `*` at the end matches every topic with the same beginning. */
    topic: primary(varchar('topic', 100)),
    /** JSON: for each header the required text, or the list of accepted texts; null: every message matches. */
    headers: nullable(text('header_filter')),
    createdAt: bigint('created_at'),
  },
  indexes: { topic: ['topic'] },
});
