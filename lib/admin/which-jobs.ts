import { isDate } from '../job/enqueue-options.js';
import { InvalidOptionsError } from '../job/errors.js';
import { expected, isOptions, unknownKeys } from '../job/expectation.js';
import { checkJobId } from '../job/job-id.js';
import { nameProblem } from '../job/job-names.js';
import { JOB_STATES, type JobState } from '../job/job-state.js';
import type { JobFilter, JobSearch } from '../store/admin-store.js';
import { noOptions } from './no-options.js';

/** How many jobs are steered in one transaction. */
export const BATCH = 500;

const FILTERS = ['queue', 'state', 'name', 'error', 'finishedAfter', 'finishedBefore'];

/** Every job of every queue. */
export interface AllJobs {
  all: true;
}

/** One job, or several. */
export type Jobs = number | readonly number[];

/** The jobs to steer: by id, by a filter with at least one condition, or all of them. */
export type JobSelection = Jobs | JobFilter | AllJobs;

export function isJobs(which: JobSelection): which is Jobs {
  return typeof which === 'number' || Array.isArray(which);
}

/** Their ids, checked, so many at a time as go into one transaction. */
export function* batches(which: Jobs): Generator<number[]> {
  const ids = typeof which === 'number' ? [which] : which;
  ids.forEach(checkJobId);
  for (let from = 0; from < ids.length; from += BATCH) yield ids.slice(from, from + BATCH);
}

/** The filter of a selection. A filter without a condition is refused: `{ queue: undefined }` must not mean every queue. */
export function filterOf(which: JobFilter | AllJobs): JobFilter {
  if (isOptions(which) && 'all' in which) {
    const { all, ...others } = which as { all: unknown };
    InvalidOptionsError.throwIfAny('Invalid filter', [
      expected(all === true, 'all to be true, or left out', all),
      expected(Object.keys(others).length === 0, 'all to stand alone, without further conditions', others),
    ]);
    return {};
  }
  checkFilter(which);
  const hasCondition = Object.values(which).some((value) => value !== undefined);
  InvalidOptionsError.throwIfAny('Invalid filter', [
    expected(hasCondition, `at least one of ${FILTERS.join(', ')}, or { all: true } to mean every job`, which),
  ]);
  return which;
}

/** State by state, since a filter without one would read what has completed. */
export function searchesOf(which: JobFilter | AllJobs, states: readonly JobState[]): JobSearch[] {
  const filter = filterOf(which);
  const { state, error } = filter;
  InvalidOptionsError.throwIfAny('Cannot retry', [
    expected(
      state === undefined || state !== 'scheduled' || states.includes(state),
      'state to be dead or cancelled with rate or to',
      state,
    ),
  ]);
  const meant = states.filter((each) => state === undefined || each === state);
  return meant.map((each) => ({
    ...filter,
    state: each,
    ...(error === undefined ? { otherThan: 'UNRECOVERABLE' } : {}),
  }));
}

/** Refuses a filter that says what nobody knows. */
export function checkFilter(filter: JobFilter): void {
  const given = isOptions(filter) ? filter : noOptions('Invalid filter', filter);
  const { queue, state, name, error, finishedAfter, finishedBefore, ...unknown } = given;
  InvalidOptionsError.throwIfAny('Invalid filter', [
    ...unknownKeys(unknown, FILTERS),
    queue === undefined ? undefined : nameProblem('queue name', queue),
    name === undefined ? undefined : nameProblem('job name', name),
    expected(
      error === undefined || (typeof error === 'string' && error !== ''),
      'error to be the code or name of one',
      error,
    ),
    ...Object.entries({ finishedAfter, finishedBefore }).map(([key, value]) =>
      expected(value === undefined || isDate(value), `${key} to be a Date between 1970 and 9999`, value),
    ),
    expected(state === undefined || JOB_STATES.includes(state), `state to be one of ${JOB_STATES.join(', ')}`, state),
  ]);
}
