import type { Survey } from '../job-store.js';
import { query, type Work } from './statement.js';

// One statement for all queues of a process. The two times are read once, each from the head of an index (the claims are
// few); the other question is answered by the first waiting job of each queue.
const SURVEY = `
  SELECT q.queue, q.paused,
         EXISTS (
           SELECT 1
           FROM {jobs} j /*! FORCE INDEX ({jobs}_claim) */
           WHERE j.queue = q.queue AND j.runnable = 1 AND j.state = 'waiting' AND j.run_at IS NULL
         ) AS waiting,
         (SELECT MIN(run_at) FROM {jobs}) - :now AS due_in,
         (SELECT MIN(lease_until) FROM {claims}) - :now AS lapse_in
  FROM {queues} q
  WHERE q.queue IN (:queues)`;

interface SurveyRow {
  queue: string;
  paused: number;
  waiting: number;
  due_in: number | null;
  lapse_in: number | null;
}

export function* survey(queues: readonly string[]): Work<Survey> {
  if (queues.length === 0) return { queues: new Map(), dueInMs: null, lapseInMs: null };
  const rows = yield* query<SurveyRow>(SURVEY, { queues });
  return {
    queues: new Map(rows.map(({ queue, waiting, paused }) => [queue, { waiting: waiting > 0, paused: paused > 0 }])),
    dueInMs: fromNow(rows[0]?.due_in),
    lapseInMs: fromNow(rows[0]?.lapse_in),
  };
}

function fromNow(ms: number | null | undefined): number | null {
  return ms === null || ms === undefined ? null : Math.max(0, Number(ms));
}
