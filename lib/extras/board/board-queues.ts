import type { QueueAdmin } from '../../admin/queue-admin.js';
import type { QueueRecord } from '../../store/features/queues/queue-store.js';
import type { QueueStats } from '../../store/features/stats/stats-store.js';
import type { BoardAccess } from './board-access.js';
import type { BoardVerb } from './board-verbs.js';

export type BoardQueue = QueueRecord & Omit<QueueStats, 'sampledAt'> & { sampledAt: Date | null };

const NONE = { value: 0, atLeast: false };

/** All queues with their statistics. A queue that is younger than the last sample has none yet. */
export async function readQueues(admin: Pick<QueueAdmin, 'queues' | 'stats'>): Promise<BoardQueue[]> {
  const [records, stats] = await Promise.all([admin.queues(), admin.stats()]);
  const byQueue = new Map(stats.map((one) => [one.queue, one]));
  // The pause of the record is newer than that of the sample.
  return records.map((record) => ({ ...(byQueue.get(record.queue) ?? withoutStats(record.queue)), ...record }));
}

/** A queue, and which of the verbs `pause` and `resume` the viewer may use in it. */
export type ReadableQueue = BoardQueue & { verbs: BoardVerb[] };

/** The queues that the viewer may read. */
export async function readableQueues(access: BoardAccess, queues: readonly BoardQueue[]): Promise<ReadableQueue[]> {
  const readable = await access.filter(queues);
  return Promise.all(
    readable.map(async (record) => ({
      ...record,
      verbs: await access.allowed(['pause', 'resume'], record.queue),
    })),
  );
}

/** `isPartial`: the viewer has no right to read some of the queues, so that an empty list does not mean that none exist. */
export function statisticsOf(readable: readonly ReadableQueue[], all: readonly BoardQueue[]) {
  return { queues: readable, isPartial: readable.length < all.length };
}

function withoutStats(queue: string): Omit<BoardQueue, keyof QueueRecord> & { queue: string } {
  return {
    queue,
    ...{ waiting: NONE, scheduled: NONE, blocked: NONE, staged: NONE, dead: NONE },
    ...{ active: 0, prefetched: 0, workers: 0 },
    ...{ oldestWaitingMs: null, nextDueInMs: null, sampledAt: null, ageMs: 0, settings: {} },
  };
}
