import type { JobState } from '../../job/job-state.js';
import { LIVE_STATE } from '../rows/job-record.js';

// One statement, so that a job that moves between the tables is found in one of them. Reads no payloads.
export const JOB_STATES_OF = `
  SELECT j.id, j.queue, ${LIVE_STATE} AS state
  FROM {jobs} j {by primary}
  WHERE j.id IN (:ids)
  UNION ALL
  SELECT h.id, h.queue, h.state
  FROM {history} h {by primary}
  WHERE h.id IN (:ids)`;

export type JobStateRow = Readonly<{ id: number; queue: string; state: JobState }>;
