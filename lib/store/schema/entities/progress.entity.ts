import { bigint, int, nullable, primary, text } from './columns.js';
import { tableSchema } from './table-schema.js';

/** The last progress of jobs that reported any, or that logged lines. */
export const progressTable = tableSchema({
  table: 'progress',
  entity: 'SqlQueueProgress',
  columns: {
    jobId: primary(bigint('job_id')),
    /** JSON; null if the job has only logged lines. */
    value: nullable(text('value')),
    /** Includes the lines that were dropped. */
    linesLogged: int('lines_logged'),
    updatedAt: bigint('updated_at'),
    /** The time of the next check whether the job still exists. */
    expiresAt: bigint('expires_at'),
  },
  indexes: { expiry: ['expiresAt'] },
});
