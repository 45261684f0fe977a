import type { JobEventName } from '../../../job/queue-event.js';
import { bigint, generated, int, nullable, primary, tableSchema, text, varchar } from './columns.js';

/** The tables of waits, progress, log lines and stored events. */
export const resultTables = {
  /** The jobs whose end a process waits for. */
  waits: tableSchema({
    entity: 'SqlQueueWait',
    columns: {
      /** The process, as a random number. */
      waiter: primary(bigint('waiter')),
      jobId: primary(bigint('job_id')),
      /** The end of the wait, unless the process renews it. */
      expiresAt: bigint('expires_at'),
    },
    indexes: { expiry: ['expiresAt'], job: ['jobId', 'waiter'] },
  }),

  /** The last progress of jobs that reported any, or that logged lines. */
  progress: tableSchema({
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
  }),

  logs: tableSchema({
    entity: 'SqlQueueLog',
    columns: {
      jobId: primary(bigint('job_id')),
      /** Counts the lines of a job from 1. */
      number: primary(int('number')),
      loggedAt: bigint('logged_at'),
      line: text('line'),
    },
  }),

  /** The event outbox: events of jobs in queues with the option `events`, kept for ten minutes. */
  events: tableSchema({
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
  }),
};
