import { bigint, primary, varchar } from './columns.js';
import { tableSchema } from './table-schema.js';

/** The rows that workers keep locked while they claim by `lock`. */
export const lockTable = tableSchema({
  table: 'locks',
  entity: 'SqlQueueLock',
  columns: {
    id: primary(bigint('id')),
    workerId: varchar('worker_id', 36),
    lockedAt: bigint('locked_at'),
  },
});
