import type { StatsOptions } from '../../../admin/read-stats.js';
import type { Engine } from '../../../engine/engine.js';
import { hasCode } from '../../../job/errors.js';
import type { QueueStats } from '../../../store/features/stats/stats-store.js';

/** The statistics. An account that may only read cannot store a sample, so it takes one for itself. */
export async function readStats({ admin, stores }: Engine, options: StatsOptions): Promise<QueueStats[]> {
  try {
    return await admin.stats(options);
  } catch (error) {
    if (!hasCode(error, 'MISSING_PRIVILEGE')) throw error;
  }
  const { queues, sampledAtMs } = await stores.stats.sample();
  const sampledAt = new Date(sampledAtMs);
  const asked = queues.filter(({ queue }) => options.queue === undefined || queue === options.queue);
  return asked.map((one) => ({ ...one, sampledAt, ageMs: 0 }));
}
