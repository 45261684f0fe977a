import {
  bigint,
  filledByDatabase,
  generated,
  nullable,
  primary,
  tableSchema,
  text,
  varchar,
  withDefault,
} from './columns.js';

/** The tables of flows. */
export const flowTables = {
  flows: tableSchema({
    entity: 'SqlQueueFlow',
    columns: {
      id: generated(bigint('id')),
      createdAt: bigint('created_at'),
      /** The time of the next check whether jobs of the flow still exist. */
      expiresAt: bigint('expires_at'),
    },
    indexes: { expiry: ['expiresAt'] },
  }),

  /** Each row: one job waits for the end of another one. */
  edges: tableSchema({
    entity: 'SqlQueueEdge',
    columns: {
      /** The job that waits. The negative id of the flow for a job for which no other job waits. */
      jobId: primary(bigint('job_id')),
      /** The job that must end before. */
      needs: primary(bigint('needs')),
      /** The queue and the name of `needs`. */
      queue: varchar('queue', 100),
      name: varchar('name', 100),
      onFailure: varchar<'cancel' | 'run' | 'wait'>('on_failure', 10),
      /** `open`: the job waits. `done`: it need not wait any longer. `failed`: it is to be cancelled. */
      state: filledByDatabase(varchar<'open' | 'done' | 'failed'>('state', 6)),
      /** How `needs` has ended; empty: it has not. */
      outcome: withDefault(varchar<'completed' | 'dead' | 'cancelled' | ''>('outcome', 9), ''),
      /** JSON, like the error. */
      result: nullable(text('result')),
      error: nullable(text('error')),
    },
    indexes: { needs: ['needs'] },
  }),
};
