import { changedStates, type BulkVerb } from '../job/changed-states.js';
import { InvalidOptionsError } from '../job/errors.js';
import { expected } from '../job/expectation.js';
import { JOB_STATES, type JobState } from '../job/job-state.js';
import { requireOptions } from '../job/option-schema.js';
import { resolveReplayKind, type ReplayKind } from '../job/replay-options.js';
import type { JobSearch } from '../store/admin/admin-store.js';
import type { JobCount } from '../store/features/stats/stats-store.js';
import type { AdminParts } from './admin-parts.js';
import { JobBatches } from './job-batches.js';
import {
  checkIds,
  filterOf,
  isJobIds,
  isUnrecoverableSkipped,
  searchesIn,
  searchOf,
  UNRECOVERABLE,
  type JobSelection,
} from './job-selection.js';
import { requireSelectedQueue } from './require-queue.js';
import { retryOf } from './retry-jobs.js';

/**
 * Why a verb leaves a job as it is: the state of the job; `unrecoverable`: a filter does not retry such jobs; `unknown`: the
 * id of no job.
 */
export type SkipReason = JobState | 'unrecoverable' | 'unknown';

/** The effect that a verb would have now. */
export interface JobPreview {
  /** The jobs that the verb would change. */
  changes: JobCount;
  /** The selected jobs that the verb would leave as they are, by the reason. A reason without jobs is left out. */
  skips: Partial<Record<SkipReason, JobCount>>;
}

const VERBS: readonly BulkVerb[] = ['retry', 'promote', 'cancel', 'remove'];

/** Counts with the searches and the states of the verb itself. */
export async function previewJobs(
  parts: AdminParts,
  verb: BulkVerb,
  which: JobSelection,
  options: ReplayKind,
): Promise<JobPreview> {
  InvalidOptionsError.throwIfAny('Cannot preview', [
    expected(VERBS.includes(verb), `verb to be one of ${VERBS.join(', ')}`, verb),
  ]);
  const states = statesOf(verb, which, options);
  if (isJobIds(which)) return previewIds(parts, which, states);
  const searches = searchesIn(searchOf(verb, which), states);
  await requireSelectedQueue(parts, which);
  const batches = new JobBatches(parts);
  const skips: JobPreview['skips'] = {};
  const skip = async (reason: SkipReason, skipped: readonly JobSearch[]) => {
    const count = await batches.countUpTo(skipped);
    if (count.value > 0 || count.atLeast) skips[reason] = count;
  };

  const changes = await batches.countUpTo(searches);
  const filter = filterOf(which);
  for (const search of searchesIn(filter, JOB_STATES))
    if (!states.includes(search.state!)) await skip(search.state!, [search]);
  if (isUnrecoverableSkipped(verb, filter))
    await skip('unrecoverable', searchesIn({ ...filter, error: UNRECOVERABLE }, states));
  return { changes, skips };
}

function statesOf(verb: BulkVerb, which: JobSelection, options: ReplayKind): readonly JobState[] {
  if (verb === 'retry') return retryOf(which, resolveReplayKind('Cannot preview', options)).states;
  const others = Object.keys(requireOptions('Cannot preview', options));
  InvalidOptionsError.throwIfAny('Cannot preview', [expected(others.length === 0, `no options for ${verb}`, options)]);
  return changedStates(verb);
}

async function previewIds(
  parts: AdminParts,
  which: number | readonly number[],
  states: readonly JobState[],
): Promise<JobPreview> {
  checkIds(which);
  const counts = await new JobBatches(parts).countStates(which);
  const changes: JobCount = { value: 0, atLeast: false };
  const skips: JobPreview['skips'] = {};
  for (const [state, value] of counts) {
    if (state !== 'unknown' && states.includes(state)) changes.value += value;
    else skips[state] = { value, atLeast: false };
  }
  return { changes, skips };
}
