import { change, query, together, type Work } from './statement.js';

// A job that waits in a stage has runnable = 2: the ranges that claims read leave it out, and index claim still says that it
// waits. Its row here says in which. Stages come last in the order of locks: claims, jobs, history, stages.

/** What `runnable` becomes when a job waits again: 2 where it stands in a stage. */
export const RUNNABLE_AGAIN = `CASE WHEN EXISTS (SELECT 1 FROM {stages} WHERE job_id = {jobs}.id) THEN 2 ELSE 1 END`;

const STAGE_OF = `
  SELECT stage
  FROM {stages}
  WHERE job_id = :id`;

const IN_STAGES = `
  SELECT job_id
  FROM {stages}
  WHERE job_id IN (:ids)
  ORDER BY job_id`;

// One by one: of a list that is as long as the table is, MariaDB reads the table, and locks it whole, whatever it is told.
const LEAVE_STAGE = `
  DELETE /*! {stages} */ FROM {stages} /*! FORCE INDEX (PRIMARY) */
  WHERE job_id = :id`;

const ENTER_STAGE = `
  INSERT INTO {stages} (job_id, queue, stage, priority)
  SELECT id, queue, :stage, priority
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE id = :id`;

const RUN_FROM = `
  UPDATE {jobs} /*! FORCE INDEX (PRIMARY) */
  SET runnable = :runnable
  WHERE id = :id AND claim_id = 0`;

export function* stageOf(id: number): Work<string | null> {
  return (yield* query<{ stage: string }>(STAGE_OF, { id }))[0]?.stage ?? null;
}

/** Their rows here go; where the jobs are, is for the caller to say. */
export function* leaveStages(ids: readonly number[]): Work<void> {
  yield* deleteStaged(yield* staged(ids));
}

/** Those of the jobs that stand in a stage, in the order of their ids. */
export function* staged(ids: readonly number[]): Work<number[]> {
  if (ids.length === 0) return [];
  return (yield* query<{ job_id: number }>(IN_STAGES, { ids })).map(({ job_id }) => Number(job_id));
}

/** The same for jobs that are known to stand in one: of others, gaps would be locked. */
export function* deleteStaged(ids: readonly number[]): Work<void> {
  yield* together(ids.map((id) => ({ sql: LEAVE_STAGE, values: { id } })));
}

/** Of a job that nobody has, and that is locked. */
export function* standIn(id: number, stage: string | null): Work<void> {
  yield* change(RUN_FROM, { id, runnable: stage === null ? 1 : 2 });
  yield* leaveStages([id]);
  if (stage !== null) yield* change(ENTER_STAGE, { id, stage });
}
