// The column `runnable`: the range of index queue in which a job waits. A claim does not change it.

/** It waits for its time. */
export const SCHEDULED = 0;
/** It waits in its queue, or it is claimed from there. A plain INSERT on SQLite leaves all jobs here, also delayed ones. */
export const IN_QUEUE = 1;
/** It waits in a stage. */
export const IN_STAGE = 2;
/** It is in its group, behind the head of the group. */
export const IN_GROUP = 3;
/** It has not joined its group yet. */
export const ARRIVING = 4;
/** It was in its group before, so it may stand before the head of the group. Claims read this range, too. */
export const RETURNED = 5;
/** It waits for the end of other jobs of its flow. */
export const BLOCKED = 6;

/** In a statement: the `runnable` of a job that is in no stage and waits again. */
export const RUNNABLE_IN_QUEUE = `CASE WHEN group_key = '' THEN ${IN_QUEUE} ELSE ${RETURNED} END`;

/** In a statement that locks jobs: whether a job is in a stage. A scheduled job returns to its stage when it is due. */
export const IS_STAGED = `CASE WHEN runnable = ${IN_STAGE} THEN 1 WHEN run_at IS NULL THEN 0
         ELSE EXISTS (SELECT 1 FROM {stages} WHERE job_id = {jobs}.id) END AS is_staged`;

/** A row with this column. */
export type StagedRow = Readonly<Record<'is_staged', number>>;

/** In a statement: the `runnable` of a job that waits again, also in a stage. */
export const RUNNABLE_WHEN_WAITING = `CASE WHEN EXISTS (SELECT 1 FROM {stages} WHERE job_id = {jobs}.id) THEN ${IN_STAGE} ELSE ${RUNNABLE_IN_QUEUE} END`;
