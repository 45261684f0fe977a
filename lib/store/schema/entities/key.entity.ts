import { bigint, nullable, primary, varchar, withDefault } from './columns.js';
import { tableSchema } from './table-schema.js';

/** The keys of jobs, kept for at least an hour after their last use. */
export const keyTable = tableSchema({
  table: 'keys',
  entity: 'SqlQueueKey',
  columns: {
    queue: primary(varchar('queue', 100)),
    /** SHA-256 of the key in hexadecimal digits. The options of a job contain the key itself. */
    keyHash: primary(varchar('key_hash', 64)),
    /** The last key owner; 0: none. The state of that job decides whether it still owns the key. */
    jobId: withDefault(bigint('job_id'), 0),
    keyUntil: withDefault(varchar<'started' | 'finished' | 'time'>('key_until', 10), 'finished'),
    /** The end of the key's time; null if the key is not owned for a time. */
    expiresAt: nullable(bigint('expires_at')),
    /** The earliest time at which the row may be deleted. */
    keptUntil: bigint('kept_until'),
  },
  indexes: { unused: ['keptUntil'] },
});
