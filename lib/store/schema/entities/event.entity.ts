import type { JobEventName } from '../../../job/queue-event.js';
import { bigint, generated, int, nullable, text, varchar } from './columns.js';
import { tableSchema } from './table-schema.js';

/** The event outbox: events of jobs in queues with the option `events`, kept for ten minutes. */
export const eventTable = tableSchema({
  table: 'events',
  entity: 'SqlQueueEvent',
  columns: {
    id: generated(bigint('id')),
    event: varchar<JobEventName>('event', 20),
    queue: varchar('queue', 100),
    jobId: bigint('job_id'),
    name: varchar('name', 100),
    attempt: int('attempt'),
    /** The duration of the attempt in milliseconds. */
    ranMs: nullable(bigint('ran_ms')),
    /** The delay until the next attempt in milliseconds. */
    delayMs: nullable(bigint('delay_ms')),
    recordedAt: bigint('recorded_at'),
    /** JSON, like the error. */
    result: nullable(text('result')),
    error: nullable(text('error')),
    /** The owner of an assigned job; null if the job has none. */
    owner: nullable(varchar('owner', 255)),
  },
});
