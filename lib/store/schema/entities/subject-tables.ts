import { bigint, primary, tableSchema, varchar } from './columns.js';

/** The table of the people whom jobs are about. */
export const subjectTables = {
  /** The jobs with the option `subject`, kept as long as the job, its history or its archive. */
  subjects: tableSchema({
    entity: 'SqlQueueSubject',
    columns: {
      subject: primary(varchar('subject', 255)),
      jobId: primary(bigint('job_id')),
      /** The time of the next check whether the job still exists. */
      expiresAt: bigint('expires_at'),
    },
    indexes: { expiry: ['expiresAt'] },
  }),
};
