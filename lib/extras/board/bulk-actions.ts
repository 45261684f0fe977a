import type { JobSelection } from '../../admin/job-selection.js';
import { InvalidOptionsError } from '../../job/errors.js';
import { expected } from '../../job/expectation.js';
import type { BoardCall } from './board-call.js';
import { jobFor } from './allowed.js';
import type { BoardWriteVerb } from './board-verbs.js';
import { BoardInput } from './input.js';

/** The largest number of jobs that one request changes, so that it ends before a proxy gives up. */
const MAX_CHANGED = 10_000;
const MAX_IDS = 200;

/** The jobs of the request, all of which the caller may change with the verb. */
export async function selectJobs(call: BoardCall, verb: BoardWriteVerb): Promise<Exclude<JobSelection, number>> {
  const { input, access } = call;
  if (!input.has('filter')) return selectIds(call, verb);
  const filter = input.part('filter').filter();
  InvalidOptionsError.throwIfAny('Invalid request', [
    expected(filter.queue !== undefined, 'filter.queue to be given', filter.queue),
    expected(!input.has('ids'), 'either ids or filter', 'both'),
  ]);
  await access.require(verb, filter.queue);
  if (filter.headers !== undefined) await access.require('read-payload', filter.queue);
  return filter;
}

async function selectIds(call: BoardCall, verb: BoardWriteVerb): Promise<number[]> {
  const { input } = call;
  const ids = input.has('id') ? [input.id()] : input.raw('ids');
  InvalidOptionsError.throwIfAny('Invalid request', [
    expected(
      Array.isArray(ids) && ids.length > 0 && ids.length <= MAX_IDS,
      `id, 1 to ${MAX_IDS} ids, or a filter with a queue`,
      ids,
    ),
  ]);
  for (const id of ids as number[]) await jobFor(call, verb, id);
  return ids as number[];
}

/** The number of jobs is at most 10,000: the page repeats the action for more. */
export function bulkOptions(input: BoardInput): { limit: number; dryRun?: boolean } {
  const limit = input.number('limit') ?? MAX_CHANGED;
  InvalidOptionsError.throwIfAny('Invalid request', [
    expected(limit <= MAX_CHANGED, `limit to be at most ${MAX_CHANGED}`, limit),
  ]);
  const dryRun = input.raw('dryRun');
  return { limit, ...(dryRun !== undefined && { dryRun: dryRun as boolean }) };
}
