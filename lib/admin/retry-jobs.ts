import type { AuditedCall } from '../audit/audit-trail.js';
import { resolveBulk } from '../job/bulk-options.js';
import { changedStates } from '../job/changed-states.js';
import { requireOptions } from '../job/expectation.js';
import { resolveReplay, type resolveReplayKind } from '../job/replay-options.js';
import type { JobFilter } from '../store/admin/admin-store.js';
import type { AdminParts } from './admin-parts.js';
import { partsForJobs, type JobChangeOptions, type JobReplayOptions } from './in-transaction.js';
import { JobBatches } from './job-batches.js';
import { requireQueue, requireSelectedQueue, takeCreate } from './require-queue.js';
import { callOf, givenFilter, isJobIds, searchesOf, searchOf, type JobSelection } from './job-selection.js';

/** @param call the call in the audit, if it is not a retry */
export async function retryJobs(
  parts: AdminParts,
  which: JobSelection,
  given: JobReplayOptions,
  call?: AuditedCall,
): Promise<number> {
  const { mayCreate, others } = takeCreate('Cannot retry', given);
  const { manager, ...options } = others;
  const { to, intervalMs, ...bulk } = resolveReplay(options);
  const { isReplay, completed, states } = retryOf(which, { to, intervalMs, completed: bulk.completed });
  const own = partsForJobs(parts, 'Cannot retry', which, bulk, manager);
  const { store, audit, notifier, recheckFlows } = own;
  const selections = isJobIds(which) ? [which] : searchesOf('retry', which, states);
  const filter = isJobIds(which) ? undefined : searchOf('retry', which);
  const recorded = call ?? callOf('retry', which, options);
  await requireSelectedQueue(own, which);
  if (to !== undefined && !mayCreate) await requireQueue(own, to);
  const moved = await audit.record(recorded, (changes) =>
    new JobBatches(own).inBatches('retried', selections, states, bulk, async (ids, before) => {
      const replay = { to, firstMs: before * intervalMs, intervalMs, completed };
      const retried = await changes.run((change) =>
        isReplay ? store.replay(ids, replay, change, filter) : store.retry(ids, change, filter),
      );
      // A job of a flow may wait for others, which may have ended meanwhile.
      await recheckFlows(retried);
      return retried;
    }),
  );
  if (moved > 0) notifier.poll();
  return moved;
}

/** A filter for completed jobs means them. */
export function retryOf(which: JobSelection, { to, intervalMs, ...given }: ReturnType<typeof resolveReplayKind>) {
  const completed = given.completed || (!isJobIds(which) && (which as JobFilter | undefined)?.state === 'completed');
  const isReplay = to !== undefined || intervalMs > 0 || completed;
  return { isReplay, completed, states: changedStates('retry', { isReplay, completed }) };
}

export async function promoteJobs(parts: AdminParts, which: JobSelection, given: JobChangeOptions): Promise<number> {
  const { manager, ...options } = requireOptions('Cannot promote', given);
  const bulk = resolveBulk('Cannot promote', options, ['manager']);
  const states = changedStates('promote');
  const selections = isJobIds(which) ? [which] : searchesOf('promote', which, states);
  const own = partsForJobs(parts, 'Cannot promote', which, bulk, manager);
  const { store, audit, notifier } = own;
  const call = callOf('promote', which, options);
  await requireSelectedQueue(own, which);
  const promoted = await audit.record(call, (changes) =>
    new JobBatches(own).inBatches('promoted', selections, states, bulk, (ids) =>
      changes.run((change) => store.promote(ids, change, givenFilter(which))),
    ),
  );
  if (promoted > 0) notifier.poll();
  return promoted;
}
