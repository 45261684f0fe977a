import type { AdminParts } from './admin-parts.js';

export type CancelParts = Pick<AdminParts, 'store' | 'flowSettler' | 'optionsFor' | 'waitNotifier' | 'events'>;

/**
 * Cancels a batch of jobs in one transaction, except those that a claim has.
 *
 * @param cancelOne cancels a job that a claim may have. Returns whether it is cancelled or will be
 * @returns the ids of the jobs that are cancelled or will be
 */
export async function cancelAll(
  { store, optionsFor, waitNotifier, events, flowSettler }: CancelParts,
  ids: readonly number[],
  cancelOne: (id: number) => Promise<boolean>,
): Promise<number[]> {
  const idle = await store.cancelIdle(ids, (queue) => optionsFor(queue).retention.deadMs);
  const cancelled = new Set(idle.map(({ id }) => id));
  for (const id of cancelled) waitNotifier.notifyAlways(id);
  events.emit('cancelled', idle);
  for (const id of ids) if (!cancelled.has(id) && (await cancelOne(id))) cancelled.add(id);
  await flowSettler.settle([...cancelled]);
  return [...cancelled];
}
