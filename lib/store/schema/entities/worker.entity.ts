import { bigint, int, primary, text, varchar } from './columns.js';
import { tableSchema } from './table-schema.js';

/** The processes with a worker. The row of a killed process is deleted after a day. */
export const workerTable = tableSchema({
  table: 'workers',
  entity: 'SqlQueueWorker',
  columns: {
    id: primary(varchar('id', 36)),
    host: varchar('host', 255),
    pid: int('pid'),
    /** JSON: the queues of the worker. */
    queues: text('queues'),
    startedAt: bigint('started_at'),
    seenAt: bigint('seen_at'),
  },
});
