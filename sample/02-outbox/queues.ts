import type { QueueOptionsByName } from 'nestjs-sql-queue';

declare module 'nestjs-sql-queue' {
  interface QueueJobs {
    'invoice.write': { payload: { orderId: number }; result: { invoice: number } };
  }
}

/** The queue of the orders that want an invoice. */
export const INVOICE = 'invoice.write';

export const queues: QueueOptionsByName = {
  [INVOICE]: {
    // Attempts are counted when a job is claimed, so a process that is killed uses up one of each job it had.
    retry: { attempts: 50, backoff: '100ms' },
    // As long after a crash, the jobs under way are taken up again.
    lease: '1s',
  },
};
