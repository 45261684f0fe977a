import { bigint, nullable, primary, tableSchema, text, varchar } from './columns.js';

/** The tables of steps and signals. */
export const stepTables = {
  /** The steps that runs of a job have ended or begun, kept while the job exists. */
  steps: tableSchema({
    entity: 'SqlQueueStep',
    columns: {
      jobId: primary(bigint('job_id')),
      name: primary(varchar('name', 100)),
      state: varchar<'done' | 'sleeping' | 'waiting'>('state', 10),
      /** JSON; null if the step has no value. That of a signal stands in a list. */
      result: nullable(text('result')),
      /** The end of a sleep or of a wait. */
      untilAt: nullable(bigint('until_at')),
      /** The signal that the job waits for. */
      signalHash: nullable(varchar('signal_hash', 64)),
      /** The time of the next check whether the job still exists. */
      expiresAt: bigint('expires_at'),
    },
    indexes: { signal: ['signalHash'], expiry: ['expiresAt'] },
  }),

  /** The signals of the last 30 days. */
  signals: tableSchema({
    entity: 'SqlQueueSignal',
    columns: {
      /** SHA-256 of the name and the key in hexadecimal digits. */
      hash: primary(varchar('hash', 64)),
      name: varchar('name', 100),
      key: varchar('signal_key', 255),
      /** JSON; null: none. */
      data: nullable(text('data')),
      sentAt: bigint('sent_at'),
    },
    indexes: { sent: ['sentAt'] },
  }),
};
