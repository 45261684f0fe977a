import { bigint, int, primary, text } from './columns.js';
import { tableSchema } from './table-schema.js';

export const logTable = tableSchema({
  table: 'logs',
  entity: 'SqlQueueLog',
  columns: {
    jobId: primary(bigint('job_id')),
    /** Counts the lines of a job from 1. */
    number: primary(int('number')),
    loggedAt: bigint('logged_at'),
    line: text('line'),
  },
});
