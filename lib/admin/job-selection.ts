import type { AuditedCall } from '../audit/audit-trail.js';
import { batchesOf } from '../common/lists.js';
import type { BulkOptions } from '../job/bulk-options.js';
import type { BulkVerb } from '../job/changed-states.js';
import { HEADERS } from '../job/enqueue-options.js';
import { InvalidOptionsError } from '../job/errors.js';
import { expected, isOptions, requireOptions } from '../job/expectation.js';
import { nameProblem, checkJobId } from '../job/identifiers.js';
import { JOB_STATES, type JobState } from '../job/job-state.js';
import { checked, date, kind, option, optionProblems, type SchemaOf } from '../job/option-schema.js';
import type { JobFilter, JobSearch } from '../store/admin/admin-store.js';

/** The maximum number of jobs that one transaction changes. */
export const ADMIN_BATCH_SIZE = 500;

/** The code of jobs that were discarded, or failed with an UnrecoverableError. */
export const UNRECOVERABLE = 'UNRECOVERABLE';

// SQLite accepts no condition with a thousand parts.
const MAX_FILTER_HEADERS = 100;

const TIME = option(date);

const FILTER = {
  queue: checked((value) => [nameProblem('queue name', value)]),
  state: option(
    kind(`one of ${JOB_STATES.join(', ')}`, (value): value is JobState => JOB_STATES.includes(value as JobState)),
  ),
  name: checked((value) => [nameProblem('job name', value)]),
  error: option(textOf('the code or the name of an error')),
  key: option(textOf('the key of a job')),
  group: option(textOf('the name of a group')),
  schedule: option(textOf('the name of a schedule')),
  owner: option(textOf('the name of an owner')),
  worker: option(textOf('the id of a worker')),
  headers: { ...HEADERS, problems: (name, headers) => headerFilterProblems(name, headers) },
  createdAfter: TIME,
  createdBefore: TIME,
  finishedAfter: TIME,
  finishedBefore: TIME,
} satisfies SchemaOf<JobFilter>;

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

/** Each id once, so that a job counts once, and changes once. */
export function idBatchesOf(which: JobIds): Iterable<number[]> {
  return batchesOf([...new Set(idsOf(which))], ADMIN_BATCH_SIZE);
}

export function idsOf(which: JobIds): readonly number[] {
  return typeof which === 'number' ? [which] : which;
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
    expected(
      hasCondition,
      `at least one of ${Object.keys(FILTER).join(', ')}, or { all: true } to mean every job`,
      which,
    ),
  ]);
  return which;
}

/** What the jobs must still match when they are locked. Undefined for ids: the caller has named the jobs. */
export function givenFilter(which: JobSelection): JobFilter | undefined {
  return isJobIds(which) ? undefined : filterOf(which);
}

/**
 * The searches for the jobs of a filter that the verb changes: one per state. The filter may name one of these states.
 *
 * @param states those of `changedStates`
 */
export function searchesOf(verb: BulkVerb, which: JobFilter | AllJobs, states: readonly JobState[]): JobSearch[] {
  const search = searchOf(verb, which);
  const { state } = search;
  InvalidOptionsError.throwIfAny(`Cannot ${verb}`, [
    expected(state === undefined || states.includes(state), `state to be one of ${states.join(', ')}`, state),
  ]);
  return searchesIn(search, states);
}

/** One search per state; only one, or none, if the search names a state. */
export function searchesIn(search: JobSearch, states: readonly JobState[]): JobSearch[] {
  return states.filter((state) => (search.state ?? state) === state).map((state) => ({ ...search, state }));
}

/** The filter, for a retry without jobs that are meant to stay dead. */
export function searchOf(verb: BulkVerb, which: JobFilter | AllJobs): JobSearch {
  const filter = filterOf(which);
  return isUnrecoverableSkipped(verb, filter) ? { ...filter, otherThan: UNRECOVERABLE } : filter;
}

/** Whether jobs that are meant to stay dead do: a filter that names an error means them, too. */
export function isUnrecoverableSkipped(verb: BulkVerb, { error }: JobFilter): boolean {
  return verb === 'retry' && error === undefined;
}

/**
 * The call of a verb in the audit. Checks ids; the caller has checked a filter.
 *
 * @throws InvalidOptionsError
 */
export function callOf(
  verb: BulkVerb,
  which: JobSelection,
  options: BulkOptions & { readonly manager?: unknown },
): AuditedCall {
  if (isJobIds(which)) checkIds(which);
  const { manager: _manager, dryRun: _dryRun, onProgress: _onProgress, signal: _signal, ...others } = options;
  const queue = isJobIds(which) ? undefined : (which as JobFilter).queue;
  return { verb, which, queue, ...(Object.keys(others).length > 0 && { options: others }) };
}

export function checkIds(which: JobIds): void {
  // forEach would skip the holes of a list.
  for (const id of idsOf(which)) checkJobId(id);
}

export function checkFilter(filter: JobFilter): void {
  const given = requireOptions('Invalid filter', filter, 'an object');
  InvalidOptionsError.throwIfAny('Invalid filter', optionProblems(FILTER, given));
}

function headerFilterProblems(name: string, headers: unknown): readonly (string | undefined)[] {
  const count = isOptions(headers) ? Object.keys(headers).length : 0;
  if (count > MAX_FILTER_HEADERS)
    return [expected(false, `${name} to have at most ${MAX_FILTER_HEADERS} entries`, count)];
  return HEADERS.problems(name, headers);
}

function textOf(what: string) {
  return kind(what, (value): value is string => typeof value === 'string' && value !== '');
}
