import { query, type Work } from '../core/statement.js';
import { JOB_STATES_OF, type JobStateRow } from '../reads/job-states.js';
import type { StateOfJob } from './admin-store.js';

/** Those of the jobs that exist, in no order. */
export function* readStates(ids: readonly number[]): Work<StateOfJob[]> {
  if (ids.length === 0) return [];
  const rows = yield* query<JobStateRow>(JOB_STATES_OF, { ids });
  return rows.map(({ id, queue, state }) => ({ id: Number(id), queue, state }));
}
