import type { QueueOptionsByName } from 'nestjs-sql-queue';

// What jobs carry. From here on the compiler knows, wherever one is enqueued.
declare module 'nestjs-sql-queue' {
  interface QueueJobs {
    'email.welcome': { payload: { email: string; name: string }; result: { email: string; messageId: string } };
  }
}

/** The queue of the mails that greet those who have signed up. */
export const WELCOME = 'email.welcome';

// Short delays, so that a whole run takes seconds: real mail servers want minutes between two attempts.
export const queues: QueueOptionsByName = {
  [WELCOME]: {
    concurrency: 20,
    retry: { attempts: 4, backoff: { type: 'exponential', delay: '250ms', max: '2s' } },
    timeout: '20s',
    // After a crash, as with kill -9, the mails under way are taken up again this much later.
    lease: '5s',
  },
};
