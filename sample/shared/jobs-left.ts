import type { QueueAdmin } from 'nestjs-sql-queue';

/** The number of jobs of a queue that have not ended. */
export async function jobsLeft(admin: QueueAdmin, queue: string): Promise<number> {
  const { waiting, scheduled, prefetched, active } = await admin.counts(queue);
  return waiting + scheduled + prefetched + active;
}
