import type { RecordedChanges } from '../audit/audit-trail.js';
import { resolveBulk } from '../job/bulk-options.js';
import { changedStates } from '../job/changed-states.js';
import { InvalidOptionsError } from '../job/errors.js';
import { expected, requireOptions } from '../job/expectation.js';
import { checkJobId } from '../job/identifiers.js';
import type { CancelResult, JobFilter, JobSearch } from '../store/admin/admin-store.js';
import type { AdminParts } from './admin-parts.js';
import { partsForJobs, within, type JobChangeOptions } from './in-transaction.js';
import { JobBatches } from './job-batches.js';
import { requireSelectedQueue } from './require-queue.js';
import { callOf, givenFilter, isJobIds, searchesOf, type JobIds, type JobSelection } from './job-selection.js';

// A job that changes its state again and again is left only if it evades every pass. After the first, a pass finds few jobs.
const MAX_PASSES = 10;

/** Returns whether the job of a single id is cancelled or will be, else the number of such jobs. */
export async function cancelJobs(
  parts: AdminParts,
  which: JobSelection,
  given: JobChangeOptions,
): Promise<boolean | number> {
  const { manager, ...options } = requireOptions('Cannot cancel', given);
  if (typeof which === 'number') {
    const isPlain = Object.keys(options).length === 0;
    InvalidOptionsError.throwIfAny('Cannot cancel', [
      expected(isPlain, 'no options but manager for a single id (pass a list of ids)', options),
    ]);
    checkJobId(which);
    const own = within(parts, manager);
    const state = await own.audit.record({ verb: 'cancel', which }, (changes) => cancelOne(own, which, changes));
    return state !== 'too-late';
  }
  const bulk = resolveBulk('Cannot cancel', options, ['manager']);
  const states = changedStates('cancel');
  const selections: (JobIds | JobSearch)[] = isJobIds(which) ? [which] : searchesOf('cancel', which, states);
  const own = partsForJobs(parts, 'Cannot cancel', which, bulk, manager);
  const call = callOf('cancel', which, options);
  await requireSelectedQueue(own, which);
  const filter = givenFilter(which);
  let found = 0;
  const requested = new Set<number>();
  const passes = filter && matchesInEachState(filter) ? inPasses(selections, () => found) : selections;
  return own.audit.record(call, (changes) =>
    new JobBatches(own).inBatches(undefined, passes, states, bulk, async (ids) => {
      const others = ids.filter((id) => !requested.has(id));
      found += others.length;
      const cancelled = await cancelAll(own, others, changes, filter);
      for (const id of cancelled.requested) requested.add(id);
      return [...cancelled.ended, ...cancelled.requested];
    }),
  );
}

/** Whether a job that changes from one unfinished state to another still matches. */
function matchesInEachState({ state, owner, worker }: JobFilter): boolean {
  return state === undefined && owner === undefined && worker === undefined;
}

/**
 * Repeats the searches until a pass has found no job: a job may enter a state whose search is already over. The number of
 * passes has a bound, because producers may enqueue more jobs meanwhile.
 */
function* inPasses<Search>(searches: readonly Search[], foundUntilNow: () => number): Generator<Search> {
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const before = foundUntilNow();
    yield* searches;
    if (foundUntilNow() === before) return;
  }
}

/** The ids of the jobs of a batch that are cancelled, and of those that are running and will be. */
interface CancelledIds {
  readonly ended: readonly number[];
  readonly requested: readonly number[];
}

/**
 * Cancels a batch of jobs in one transaction, except those that a claim has, which it cancels one by one.
 *
 * @param filter the one that the jobs matched when their ids were read. Undefined: the caller has named the jobs
 */
export async function cancelAll(
  parts: AdminParts,
  ids: readonly number[],
  changes: RecordedChanges,
  filter?: JobFilter,
): Promise<CancelledIds> {
  if (ids.length === 0) return { ended: [], requested: [] };
  const { store, events, followEnds } = parts;
  const retentionMs = retentionOf(parts);
  const mayBeIdle = filter?.state !== 'active';
  const mayBeActive = (filter?.state ?? 'active') === 'active';
  const idle = mayBeIdle ? await changes.run((change) => store.cancelIdle(ids, retentionMs, change, filter)) : [];
  const ended = new Set(idle.map(({ id }) => id));
  const requested: number[] = [];
  events.emitChanges('cancelled', idle);
  await followEnds([...ended]);
  for (const id of mayBeActive ? ids : []) {
    if (ended.has(id)) continue;
    const state = await cancelOne(parts, id, changes, filter);
    if (state === 'cancelled') ended.add(id);
    if (state === 'requested') requested.push(id);
  }
  return { ended: [...ended], requested };
}

async function cancelOne(
  parts: AdminParts,
  id: number,
  changes: RecordedChanges,
  filter?: JobFilter,
): Promise<CancelResult['state']> {
  const { store, groups, notifier, events, followEnds } = parts;
  const before = await new JobBatches(parts).readForEvent('cancelled', [id]);
  const result = await changes.run((change) => store.cancel(id, retentionOf(parts), change, filter));
  if (result.state === 'requested') notifier.cancel(id, result.workerId);
  if (result.state !== 'cancelled') return result.state;
  if (result.leftGroup) await groups.wake(result.leftGroup.queue, result.leftGroup.group);
  events.emitChanges('cancelled', before);
  await followEnds([id], result.isInFlow ?? false);
  return result.state;
}

function retentionOf({ optionsFor }: AdminParts): (queue: string) => number | false {
  return (queue) => optionsFor(queue).retention.deadMs;
}
