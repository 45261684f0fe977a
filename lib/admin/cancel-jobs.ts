import type { RecordedChanges } from '../audit/audit-trail.js';
import { resolveBulk } from '../job/bulk-options.js';
import { changedStates } from '../job/changed-states.js';
import { InvalidOptionsError } from '../job/errors.js';
import { expected, requireOptions } from '../job/expectation.js';
import { checkJobId } from '../job/identifiers.js';
import type { JobFilter } from '../store/admin/admin-store.js';
import type { AdminParts } from './admin-parts.js';
import { partsForJobs, within, type JobChangeOptions } from './in-transaction.js';
import { JobBatches } from './job-batches.js';
import { requireSelectedQueue } from './require-queue.js';
import { callOf, givenFilter, isJobIds, searchesOf, type JobSelection } from './job-selection.js';

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
    return own.audit.record({ verb: 'cancel', which }, (changes) => cancelOne(own, which, changes));
  }
  const bulk = resolveBulk('Cannot cancel', options, ['manager']);
  const states = changedStates('cancel');
  const selections = isJobIds(which) ? [which] : searchesOf('cancel', which, states);
  const own = partsForJobs(parts, 'Cannot cancel', which, bulk, manager);
  const call = callOf('cancel', which, options);
  await requireSelectedQueue(own, which);
  return own.audit.record(call, (changes) =>
    new JobBatches(own).inBatches(undefined, selections, states, bulk, (ids) =>
      cancelAll(own, ids, changes, givenFilter(which)),
    ),
  );
}

/**
 * Cancels a batch of jobs in one transaction, except those that a claim has, which it cancels one by one.
 *
 * @param filter the one that the jobs matched when their ids were read. Undefined: the caller has named the jobs
 * @returns the ids of the jobs that are cancelled or will be
 */
export async function cancelAll(
  parts: AdminParts,
  ids: readonly number[],
  changes: RecordedChanges,
  filter?: JobFilter,
): Promise<number[]> {
  const { store, events, followEnds } = parts;
  const retentionMs = retentionOf(parts);
  const mayBeIdle = filter?.state !== 'active';
  const mayBeActive = (filter?.state ?? 'active') === 'active';
  const idle = mayBeIdle ? await changes.run((change) => store.cancelIdle(ids, retentionMs, change, filter)) : [];
  const cancelled = new Set(idle.map(({ id }) => id));
  events.emitChanges('cancelled', idle);
  await followEnds([...cancelled]);
  for (const id of mayBeActive ? ids : [])
    if (!cancelled.has(id) && (await cancelOne(parts, id, changes, filter))) cancelled.add(id);
  return [...cancelled];
}

/** Returns whether the job is cancelled or will be. */
async function cancelOne(
  parts: AdminParts,
  id: number,
  changes: RecordedChanges,
  filter?: JobFilter,
): Promise<boolean> {
  const { store, groups, notifier, events, followEnds } = parts;
  const before = await new JobBatches(parts).readForEvent('cancelled', [id]);
  const result = await changes.run((change) => store.cancel(id, retentionOf(parts), change, filter));
  if (result.state === 'requested') notifier.cancel(id, result.workerId);
  if (result.state !== 'cancelled') return result.state === 'requested';
  if (result.leftGroup) await groups.wake(result.leftGroup.queue, result.leftGroup.group);
  events.emitChanges('cancelled', before);
  await followEnds([id], result.isInFlow ?? false);
  return true;
}

function retentionOf({ optionsFor }: AdminParts): (queue: string) => number | false {
  return (queue) => optionsFor(queue).retention.deadMs;
}
