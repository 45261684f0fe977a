import type { QueueOptionsByName } from 'nestjs-sql-queue';

// The types of payloads and results, which the compiler checks wherever a job is enqueued.
declare module 'nestjs-sql-queue' {
  interface QueueJobs {
    'email.welcome': { payload: { email: string; name: string }; result: { email: string; messageId: string } };
  }
}

/** The queue of welcome mails. */
export const WELCOME = 'email.welcome';

// Short delays, so that a whole run takes seconds. Real mail servers expect minutes between two attempts.
export const queues: QueueOptionsByName = {
  [WELCOME]: {
    concurrency: 20,
    retry: { attempts: 4, backoff: { type: 'exponential', delay: '250ms', max: '2s' } },
    timeout: '20s',
    // After a crash, as with kill -9, a worker rescues the running mails after this time.
    lease: '5s',
  },
};
