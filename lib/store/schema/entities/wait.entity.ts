import { bigint, primary } from './columns.js';
import { tableSchema } from './table-schema.js';

/** The jobs whose end a process waits for. */
export const waitTable = tableSchema({
  table: 'waits',
  entity: 'SqlQueueWait',
  columns: {
    /** The process, as a random number. */
    waiter: primary(bigint('waiter')),
    jobId: primary(bigint('job_id')),
    /** The end of the wait, unless the process renews it. */
    expiresAt: bigint('expires_at'),
  },
  indexes: { expiry: ['expiresAt'], job: ['jobId', 'waiter'] },
});
