import type { JobState } from '../../job/job-state.js';
import { LIVE_STATE } from '../rows/job-record.js';
import { query, type Work } from '../core/statement.js';
import type { StateOfJob } from './admin-store.js';

// One statement, so that a job that moves between the tables is found in one of them. Reads no payloads.
const STATES = `
  SELECT j.id, j.queue, ${LIVE_STATE} AS state
  FROM {jobs} j {by primary}
  WHERE j.id IN (:ids)
  UNION ALL
  SELECT h.id, h.queue, h.state
  FROM {history} h {by primary}
  WHERE h.id IN (:ids)`;

/** Those of the jobs that exist, in no order. */
export function* readStates(ids: readonly number[]): Work<StateOfJob[]> {
  if (ids.length === 0) return [];
  const rows = yield* query<{ id: number; queue: string; state: JobState }>(STATES, { ids });
  return rows.map(({ id, queue, state }) => ({ id: Number(id), queue, state }));
}
