import { batchesOf } from '../common/lists.js';
import { isOptions } from '../job/expectation.js';
import { checkQueueName } from '../job/identifiers.js';
import type { AdminParts } from './admin-parts.js';
import { partsFor } from './in-transaction.js';
import { ADMIN_BATCH_SIZE } from './job-selection.js';
import { requireQueue, takeCreate, type QueueChangeOptions } from './require-queue.js';

/** Every queue that has jobs or is known otherwise. */
export interface AllQueues {
  all: true;
}

export async function setPaused(
  given: AdminParts,
  which: string | AllQueues,
  paused: boolean,
  options: QueueChangeOptions,
): Promise<void> {
  const isAll = isAllQueues(which);
  if (!isAll) checkQueueName(which);
  const verb = paused ? 'pause' : 'resume';
  const { mayCreate, others } = takeCreate(`Cannot ${verb}`, options);
  const parts = partsFor(given, `Cannot ${verb}`, others);
  if (!isAll && !mayCreate) await requireQueue(parts, which);
  const { store, audit, notifier } = parts;
  const queues = isAll ? (await store.queues()).map(({ queue }) => queue) : [which];
  await audit.record({ verb, which, queue: isAll ? undefined : which }, async (changes) => {
    // One transaction for each batch: its locks do not delay workers that start.
    for (const batch of batchesOf(queues, ADMIN_BATCH_SIZE))
      await changes.run((change) => store.setPaused(batch, paused, change));
  });
  notifier.poll();
}

function isAllQueues(which: unknown): which is AllQueues {
  return isOptions(which) && JSON.stringify(which) === '{"all":true}';
}
