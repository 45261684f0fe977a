import type { QueueOptionsByName } from 'nestjs-sql-queue';

declare module 'nestjs-sql-queue' {
  interface QueueJobs {
    'invoice.write': { payload: { orderId: number }; result: { invoice: number } };
  }
}

/** The queue of orders without an invoice. */
export const INVOICE = 'invoice.write';

export const queues: QueueOptionsByName = {
  [INVOICE]: {
    // A claim counts an attempt, so a killed process costs each of its jobs one.
    retry: { attempts: 50, backoff: '100ms' },
    // After a crash, a worker rescues the running jobs after this time.
    lease: '1s',
  },
};
