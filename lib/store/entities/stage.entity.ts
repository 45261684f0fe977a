import { EntitySchema } from 'typeorm';
import type { Tables } from '../tables.js';
import { bigint, smallint, varchar } from './columns.js';

/** Where a job stands in work that people do in steps. Jobs that nobody has moved into a stage have none. */
export interface SqlQueueStageRow {
  jobId: number;
  queue: string;
  stage: string;
  /** The job's own, so that a stage is read in the order of its queue. */
  priority: number;
}

export function stageEntity(tables: Tables, name: string): EntitySchema<SqlQueueStageRow> {
  return new EntitySchema<SqlQueueStageRow>({
    name,
    tableName: tables.stages,
    synchronize: false,
    columns: {
      jobId: { ...bigint('job_id'), primary: true },
      queue: varchar('queue', 100),
      stage: varchar('stage', 100),
      priority: smallint('priority'),
    },
    indices: [{ name: `${tables.stages}_place`, columns: ['queue', 'stage', 'priority', 'jobId'] }],
  });
}
