import type { JobState } from '../../job/job-state.js';
import { queryInBatches, type Work } from '../core/statement.js';
import { LIVE_STATE } from '../rows/job-record.js';

// One statement, so that a job that moves between the tables is found in one of them. Of two jobs with one id, the live one
// comes last and wins. Reads no payloads.
const STATES = `
  SELECT h.id, h.queue, h.state
  FROM {history} h {by primary}
  WHERE h.id IN (:ids)
  UNION ALL
  SELECT j.id, j.queue, ${LIVE_STATE}
  FROM {jobs} j {by primary}
  WHERE j.id IN (:ids)`;

const BATCH_SIZE = 500;

type StateRow = Readonly<{ id: number; queue: string; state: JobState }>;

/** Those of the jobs that exist, by their ids. */
export function* readStates(ids: readonly number[]): Work<Map<number, StateRow>> {
  const rows = yield* queryInBatches<StateRow>(STATES, ids, BATCH_SIZE);
  return new Map(rows.map(({ id, queue, state }) => [Number(id), { id: Number(id), queue, state }]));
}
