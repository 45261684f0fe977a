import { bigint, label, nullable, primary, tableSchema, text, withDefault, word } from './columns.js';

/** The tables that only administrators read: statistics, metrics and the audit. */
export const adminTables = {
  /** One row: the last sample of the statistics, and the lease of the process that takes the next one. */
  stats: tableSchema({
    entity: 'SqlQueueStats',
    columns: {
      id: primary(bigint('id')),
      /** JSON: the statistics of all queues; null before the first sample. */
      sample: nullable(text('sample')),
      sampledAt: withDefault(bigint('sampled_at'), 0),
      tookMs: withDefault(bigint('took_ms'), 0),
      leaseUntil: withDefault(bigint('lease_until'), 0),
    },
  }),

  /** The attempts that ended within a minute, an hour or a day. */
  metrics: tableSchema({
    entity: 'SqlQueueMetrics',
    columns: {
      queue: primary(word('queue', 100)),
      /** The length of the time in milliseconds; 0: a minute of one process. */
      stepMs: primary(bigint('step_ms')),
      /** The start of the time. */
      startsAt: primary(bigint('starts_at')),
      /** The process, as a random number; 0: the sum of all processes. */
      recorder: primary(bigint('recorder')),
      completed: bigint('completed'),
      /** Includes the last attempts of dead jobs. */
      failed: bigint('failed'),
      dead: bigint('dead'),
      cancelled: bigint('cancelled'),
      /** JSON, like `runs`: the number of attempts per range of milliseconds; see Histogram. */
      waits: text('waits'),
      runs: text('runs'),
    },
    indexes: { fold: ['stepMs', 'startsAt'] },
  }),

  /**
   * The failed attempts by their errors, within the times of the metrics. It has no message: a reader finds it in the job, so
   * that encryption, erasure and retention have one place.
   */
  errors: tableSchema({
    entity: 'SqlQueueError',
    columns: {
      queue: primary(word('queue', 100)),
      stepMs: primary(bigint('step_ms')),
      startsAt: primary(bigint('starts_at')),
      recorder: primary(bigint('recorder')),
      /** The code of the error, or its name; empty: all errors beyond the first hundred. */
      error: primary(label('error', 255)),
      /** Includes the last attempts of dead jobs. */
      failed: bigint('failed'),
      dead: bigint('dead'),
      firstAt: bigint('first_at'),
      lastAt: bigint('last_at'),
      /** The newest job with the error. */
      jobId: bigint('job_id'),
    },
    indexes: { fold: ['stepMs', 'startsAt'] },
  }),

  /** The changes that administrators have made. */
  audit: tableSchema({
    entity: 'SqlQueueAudit',
    columns: {
      /** A random number. */
      id: primary(bigint('id')),
      verb: word('verb', 50),
      /** The queue of the change; null: none, or several. */
      queue: nullable(word('queue', 100)),
      /** The administrator of `QueueAdmin.as`; null: not given. */
      madeBy: nullable(label('made_by', 255)),
      /** JSON: the selection and the options of the call. */
      details: text('details'),
      /** The number of changed jobs, queues or other things. */
      changed: bigint('changed'),
      /** The time of the last change of the call. */
      changedAt: bigint('changed_at'),
    },
    indexes: {
      time: ['changedAt', 'id'],
      queue: ['queue', 'changedAt', 'id'],
      made_by: ['madeBy', 'changedAt', 'id'],
      verb: ['verb', 'changedAt', 'id'],
    },
  }),
};
