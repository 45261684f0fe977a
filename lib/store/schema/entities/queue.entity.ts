import { bigint, nullable, primary, tinyint, varchar, withDefault } from './columns.js';
import { tableSchema } from './table-schema.js';

/** The queues that a worker has used, or that were paused or subscribed. */
export const queueTable = tableSchema({
  table: 'queues',
  entity: 'SqlQueueQueue',
  columns: {
    queue: primary(varchar('queue', 100)),
    /** 1 if the queue is paused in all processes. */
    paused: withDefault(tinyint('paused'), 0),
    createdAt: bigint('created_at'),
    /** The time without use after which an empty temporary queue is deleted; null: never. */
    expiresAfterMs: nullable(bigint('expires_after_ms')),
    /** The last time at which a worker renewed a temporary queue; null for all other queues. */
    usedAt: nullable(bigint('used_at')),
  },
});
