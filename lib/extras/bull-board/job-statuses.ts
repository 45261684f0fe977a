import type { JobState as BullJobState, JobStatus } from '@bull-board/api/typings/app';
import type { JobState } from '../../job/job-state.js';
import { Refusal } from '../dashboard/error-status.js';

// bull-board has no tab for cancelled jobs. They are no part of `failed`, so that "Retry all" does not start them.
const STATES = {
  active: 'active',
  waiting: 'waiting',
  'waiting-children': 'blocked',
  completed: 'completed',
  failed: 'dead',
  delayed: 'scheduled',
} as const satisfies Partial<Record<JobStatus, JobState>>;

const STATUSES: Readonly<Record<JobState, BullJobState>> = {
  active: 'active',
  waiting: 'waiting',
  blocked: 'waiting-children',
  completed: 'completed',
  dead: 'failed',
  cancelled: 'failed',
  scheduled: 'delayed',
};

/** The tabs of a queue. */
export const JOB_STATUSES = Object.keys(STATES) as (keyof typeof STATES)[];

export function statusOf(state: JobState): BullJobState {
  return STATUSES[state];
}

/** @param status a status, or `wait`, which bull-board uses for `waiting` in some routes */
export function stateOf(status: string): JobState {
  const known = status === 'wait' ? 'waiting' : status;
  if (Object.hasOwn(STATES, known)) return STATES[known as keyof typeof STATES];
  throw new Refusal(`Expected one of the states ${JOB_STATUSES.join(', ')}, got "${status.slice(0, 80)}".`);
}
