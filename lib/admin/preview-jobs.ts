import { changedStates, type BulkVerb } from '../job/changed-states.js';
import { InvalidOptionsError } from '../job/errors.js';
import { expected, requireOptions } from '../job/expectation.js';
import { JOB_STATES, type JobState } from '../job/job-state.js';
import { resolveReplayKind, type ReplayKind } from '../job/replay-options.js';
import type { JobFilter, JobSearch } from '../store/admin/admin-store.js';
import type { JobCount } from '../store/features/stats/stats-store.js';
import type { AdminParts } from './admin-parts.js';
import { JobBatches } from './job-batches.js';
import {
  checkIds,
  filterOf,
  isJobIds,
  isUnrecoverableSkipped,
  searchesIn,
  searchesOf,
  UNRECOVERABLE,
  type AllJobs,
  type JobSelection,
} from './job-selection.js';
import { requireQueue, requireSelectedQueue, takeCreate, type MayCreateQueue } from './require-queue.js';
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

/** Options of a preview: those of a retry that decide about its jobs. */
export interface PreviewOptions extends ReplayKind, MayCreateQueue {}

/** Counts with the searches and the states of the verb itself. */
export async function previewJobs(
  parts: AdminParts,
  verb: BulkVerb,
  which: JobSelection,
  options: PreviewOptions,
): Promise<JobPreview> {
  InvalidOptionsError.throwIfAny('Cannot preview', [
    expected(VERBS.includes(verb), `verb to be one of ${VERBS.join(', ')}`, verb),
  ]);
  const { states, existingQueue } = effectOf(verb, which, options);
  if (isJobIds(which)) checkIds(which);
  const searches = isJobIds(which) ? [] : searchesFor(verb, which, states);
  await requireSelectedQueue(parts, which);
  if (existingQueue !== undefined) await requireQueue(parts, existingQueue);
  if (isJobIds(which)) return previewIds(parts, which, states);
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

/** The states that the verb changes, and a queue that must exist. */
function effectOf(
  verb: BulkVerb,
  which: JobSelection,
  given: PreviewOptions,
): { states: readonly JobState[]; existingQueue?: string | undefined } {
  if (verb === 'retry') {
    const { mayCreate, others } = takeCreate('Cannot preview', given);
    const kind = resolveReplayKind('Cannot preview', others);
    return { states: retryOf(which, kind).states, existingQueue: mayCreate ? undefined : kind.to };
  }
  const others = Object.keys(requireOptions('Cannot preview', given));
  InvalidOptionsError.throwIfAny('Cannot preview', [expected(others.length === 0, `no options for ${verb}`, given)]);
  return { states: changedStates(verb) };
}

/** A removal leaves active jobs as they are; the other verbs refuse a filter for a state that they do not change. */
function searchesFor(verb: BulkVerb, which: JobFilter | AllJobs, states: readonly JobState[]): JobSearch[] {
  return verb === 'remove' ? searchesIn(filterOf(which), states) : searchesOf(verb, which, states);
}

async function previewIds(
  parts: AdminParts,
  which: number | readonly number[],
  states: readonly JobState[],
): Promise<JobPreview> {
  const counts = await new JobBatches(parts).countStates(which);
  const changes: JobCount = { value: 0, atLeast: false };
  const skips: JobPreview['skips'] = {};
  for (const [state, value] of counts) {
    if (state !== 'unknown' && states.includes(state)) changes.value += value;
    else skips[state] = { value, atLeast: false };
  }
  return { changes, skips };
}
