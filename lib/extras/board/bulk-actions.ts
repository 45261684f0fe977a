import type { JobSelection } from '../../admin/job-selection.js';
import type { BulkVerb } from '../../job/changed-states.js';
import { InvalidOptionsError } from '../../job/errors.js';
import { expected } from '../../job/expectation.js';
import { isWhole } from '../../job/identifiers.js';
import type { JobState } from '../../job/job-state.js';
import type { ReplayKind } from '../../job/replay-options.js';
import type { StateOfJob } from '../../store/admin/admin-store.js';
import { notFound } from '../dashboard/error-status.js';
import type { BoardCall } from './board-call.js';
import { checkInput, type BoardInput } from './input.js';

/** The largest number of jobs that one request changes, so that it ends before a proxy gives up. */
const MAX_CHANGED = 10_000;
/** The largest number of ids in one request. */
export const MAX_IDS = 200;

/**
 * The answer of a bulk verb: the number of jobs that it has changed. A dry run also has those that the verb would skip, and
 * those that have left the state in which the list showed them.
 */
export async function bulkAnswer(
  call: BoardCall,
  verb: BulkVerb,
  options: ReplayKind,
  act: (which: Exclude<JobSelection, number>, bulk: { limit: number }) => Promise<number>,
): Promise<object> {
  const { which, found } = await selectJobs(call, verb);
  const bulk = bulkOptions(call.input);
  if (call.input.raw('dryRun') !== true) return { changed: await act(which, bulk) };
  const { changes, skips } = await call.admin.preview(verb, which, options);
  // A job may be removed between the two reads.
  const removed = found ? idsOf(call.input).length - found.length : 0;
  const unknown = { value: removed + (skips.unknown?.value ?? 0), atLeast: false };
  return {
    changed: Math.min(changes.value, bulk.limit),
    changes,
    skips: { ...skips, ...(unknown.value > 0 && { unknown }) },
    left: leftJobs(call.input.text('listState'), found),
  };
}

/** The states of the jobs that are not in the state of the list, with the number of jobs in each. */
function leftJobs(listState: string | undefined, found: readonly StateOfJob[] = []) {
  const left: Partial<Record<JobState, number>> = {};
  if (listState === undefined) return left;
  for (const { state } of found) if (state !== listState) left[state] = (left[state] ?? 0) + 1;
  return left;
}

interface Selected {
  readonly which: Exclude<JobSelection, number>;
  /** The jobs of a list of ids. */
  readonly found?: readonly StateOfJob[];
}

/** The jobs of the request, all of which the caller may change with the verb. */
async function selectJobs(call: BoardCall, verb: BulkVerb): Promise<Selected> {
  const { input, access } = call;
  if (!input.has('filter')) return selectIds(call, verb);
  const filter = input.part('filter').filter();
  InvalidOptionsError.throwIfAny('Invalid request', [
    expected(filter.queue !== undefined, 'filter.queue to be given', filter.queue),
    expected(!input.has('ids'), 'either ids or filter', 'both'),
  ]);
  await access.require(verb, filter.queue);
  if (filter.headers !== undefined) await access.require('read-payload', filter.queue);
  return { which: filter };
}

/** Without jobs that were removed meanwhile: the caller may have no right to a job that has such an id later. */
async function selectIds({ admin, access, input }: BoardCall, verb: BulkVerb): Promise<Selected> {
  const ids = idsOf(input);
  const found = await admin.states(ids);
  if (found.length === 0) throw notFound(`Job ${ids[0]}`);
  for (const { queue } of found) await access.require(verb, queue);
  const known = new Set(found.map(({ id }) => id));
  return { which: ids.filter((id) => known.has(id)), found };
}

function idsOf(input: BoardInput): readonly number[] {
  const ids = input.has('id') ? [input.id()] : input.raw('ids');
  checkInput(
    Array.isArray(ids) && ids.length > 0 && ids.length <= MAX_IDS,
    `id, 1 to ${MAX_IDS} ids, or a filter with a queue`,
    ids,
  );
  return [...new Set(ids as number[])];
}

/** The number of jobs is at most 10,000: the page repeats the action for more. */
function bulkOptions(input: BoardInput): { limit: number; dryRun?: boolean } {
  const limit = input.number('limit') ?? MAX_CHANGED;
  checkInput(isWhole(limit, 1, MAX_CHANGED), `limit to be a whole number from 1 to ${MAX_CHANGED}`, limit);
  const dryRun = input.raw('dryRun');
  return { limit, ...(dryRun !== undefined && { dryRun: dryRun as boolean }) };
}
