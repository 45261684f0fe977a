import { ascending } from '../../job/identifiers.js';
import { deleteFrom, execute, executeInBatches, query, queryInBatches, type Work } from '../core/statement.js';
import { isFinished } from '../rows/fence.js';
import { IN_STAGE, RUNNABLE_IN_QUEUE } from '../tables/runnable.js';
import type { JobEnd } from '../rows/completion.js';

// A job that waits in a stage has runnable = 2: claims do not read that range of index queue, but counts do. The row in
// stages names its stage. The lock order is claims, jobs, history, stages.

const STAGE_OF = `
  SELECT stage
  FROM {stages}
  WHERE job_id = :id`;

const IN_STAGES = `
  SELECT job_id
  FROM {stages}
  WHERE job_id IN (:ids)
  ORDER BY job_id {latest}`;

const DELETE_STAGE = deleteFrom('stages', 'job_id = :id');

const INSERT_STAGE = `
  INSERT INTO {stages} (job_id, queue, stage, priority)
  SELECT id, queue, :stage, priority
  FROM {jobs} {by primary}
  WHERE id = :id`;

const SET_RUNNABLE = `
  UPDATE {jobs} {by primary}
  SET runnable = CASE WHEN :isInStage = 1 THEN ${IN_STAGE} ELSE ${RUNNABLE_IN_QUEUE} END
  WHERE id = :id AND claim_id = 0`;

const BATCH_SIZE = 500;

export function* stageOf(id: number): Work<string | null> {
  return (yield* query<{ stage: string }>(STAGE_OF, { id }))[0]?.stage ?? null;
}

/** @param ends of jobs that are in a stage. A job that returns to its queue stays in its stage. */
export function* leaveStages(ends: readonly JobEnd[]): Work<void> {
  yield* deleteStaged(ascending(ends.filter(isFinished).map(({ job }) => job.id)));
}

/** The jobs that are in a stage, in the order of their ids. */
export function* findStaged(ids: readonly number[]): Work<number[]> {
  const rows = yield* queryInBatches<{ job_id: number }>(IN_STAGES, ascending(ids), BATCH_SIZE);
  return ascending(rows.map(({ job_id }) => Number(job_id)));
}

/** Deletes the stages of jobs that are known to be in one. For other jobs the DELETE would lock gaps. */
export function* deleteStaged(ids: readonly number[]): Work<void> {
  yield* executeInBatches(ids.map((id) => ({ sql: DELETE_STAGE, values: { id } })));
}

/** The transaction must have locked the job, and no claim may have it. */
export function* setStage(id: number, stage: string | null): Work<void> {
  yield* execute(SET_RUNNABLE, { id, isInStage: stage === null ? 0 : 1 });
  yield* deleteStaged(yield* findStaged([id]));
  if (stage !== null) yield* execute(INSERT_STAGE, { id, stage });
}
