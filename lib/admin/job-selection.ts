import { batchesOf } from '../common/batches-of.js';
import { isDate } from '../job/enqueue-options.js';
import { InvalidOptionsError } from '../job/errors.js';
import { expected, isOptions, unknownKeys } from '../job/expectation.js';
import { checkJobId } from '../job/job-id.js';
import { nameProblem } from '../job/job-names.js';
import { JOB_STATES, type JobState } from '../job/job-state.js';
import { requireOptions } from '../job/option-schema.js';
import type { JobFilter, JobSearch } from '../store/admin/admin-store.js';

/** The maximum number of jobs that one transaction changes. */
export const ADMIN_BATCH_SIZE = 500;

const FILTERS = ['queue', 'state', 'name', 'error', 'finishedAfter', 'finishedBefore'];

/** Every job of every queue. */
export interface AllJobs {
  all: true;
}

export type JobIds = number | readonly number[];

/** The jobs to change: an id, a list of ids, a filter with at least one condition, or `{ all: true }`. */
export type JobSelection = JobIds | JobFilter | AllJobs;

export function isJobIds(which: JobSelection): which is JobIds {
  return typeof which === 'number' || Array.isArray(which);
}

export function* checkedIdBatches(which: JobIds): Generator<number[]> {
  const ids = typeof which === 'number' ? [which] : which;
  ids.forEach(checkJobId);
  yield* batchesOf(ids, ADMIN_BATCH_SIZE);
}

/** Throws for a filter without a condition, because `{ queue: undefined }` must not mean every queue. */
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

/** One search per state. The filter may name one of these states. */
export function searchesOf(where: string, which: JobFilter | AllJobs, states: readonly JobState[]): JobSearch[] {
  const filter = filterOf(which);
  const { state } = filter;
  InvalidOptionsError.throwIfAny(where, [
    expected(state === undefined || states.includes(state), `state to be one of ${states.join(', ')}`, state),
  ]);
  const searched = state === undefined ? states : [state];
  return searched.map((each) => ({ ...filter, state: each }));
}

/** The jobs of the searches, except those that are meant to stay dead unless the filter names their error. */
export function withoutUnrecoverable(searches: readonly JobSearch[]): JobSearch[] {
  return searches.map((search) => (search.error === undefined ? { ...search, otherThan: 'UNRECOVERABLE' } : search));
}

export function checkFilter(filter: JobFilter): void {
  const given = requireOptions('Invalid filter', filter, 'an object');
  const { queue, state, name, error, finishedAfter, finishedBefore, ...unknown } = given;
  InvalidOptionsError.throwIfAny('Invalid filter', [
    ...unknownKeys(unknown, FILTERS),
    queue === undefined ? undefined : nameProblem('queue name', queue),
    name === undefined ? undefined : nameProblem('job name', name),
    expected(
      error === undefined || (typeof error === 'string' && error !== ''),
      'error to be the code or the name of an error',
      error,
    ),
    ...Object.entries({ finishedAfter, finishedBefore }).map(([key, value]) =>
      expected(value === undefined || isDate(value), `${key} to be a Date between 1970 and 9999`, value),
    ),
    expected(state === undefined || JOB_STATES.includes(state), `state to be one of ${JOB_STATES.join(', ')}`, state),
  ]);
}
