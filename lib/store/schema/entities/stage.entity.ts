import { bigint, primary, smallint, varchar } from './columns.js';
import { tableSchema } from './table-schema.js';

/** A job without a stage has no row. */
export const stageTable = tableSchema({
  table: 'stages',
  entity: 'SqlQueueStage',
  columns: {
    jobId: primary(bigint('job_id')),
    queue: varchar('queue', 100),
    stage: varchar('stage', 100),
    /** A copy of the job's priority, so that a stage is read in the order of its queue. */
    priority: smallint('priority'),
  },
  indexes: { claim: ['queue', 'stage', 'priority', 'jobId'] },
});
