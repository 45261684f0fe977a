import { leaveStages } from './stages.js';
import { query, together, type Work } from './statement.js';

const ORPHANS = `
  SELECT s.job_id AS id
  FROM {stages} s
  LEFT JOIN {jobs} j ON j.id = s.job_id
  WHERE j.id IS NULL
  ORDER BY s.job_id
  LIMIT :limit`;

const LOCK_ORPHAN = `
  SELECT job_id AS id
  FROM {stages} /*! FORCE INDEX (PRIMARY) */
  WHERE job_id = :id /*! FOR UPDATE SKIP LOCKED */`;

const JOBS_OF = `
  SELECT id
  FROM {jobs}
  WHERE id IN (:ids)`;

/** Whether there are such rows, read without locks. */
export function* hasOrphans(): Work<boolean> {
  return (yield* query(ORPHANS, { limit: 1 })).length > 0;
}

/** Rows of jobs that ended in other ways than by their holder's hand: at most `limit`; answers how many. */
export function* sweepStages(limit: number): Work<number> {
  const orphans = yield* query<{ id: number }>(ORPHANS, { limit });
  if (orphans.length === 0) return 0;
  // A dead job that starts anew leaves its stage first. Once its row here is locked, nothing brings it back unseen.
  const answers = yield* together(orphans.map(({ id }) => ({ sql: LOCK_ORPHAN, values: { id: Number(id) } })));
  const locked = idsOf(answers.flatMap(({ rows }) => rows as unknown as { id: number }[]));
  if (locked.length === 0) return 0;
  const back = new Set(idsOf(yield* query<{ id: number }>(JOBS_OF, { ids: locked })));
  const gone = locked.filter((id) => !back.has(id));
  yield* leaveStages(gone);
  return gone.length;
}

function idsOf(rows: readonly { id: number }[]): number[] {
  return rows.map(({ id }) => Number(id));
}
