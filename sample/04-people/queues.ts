export const CHECK = 'photo.check';

/** Where photos wait that somebody is not sure about. */
export const REVIEW = 'pending review';

declare module 'nestjs-sql-queue' {
  interface QueueJobs {
    [CHECK]: { payload: { title: string }; result: { verdict: 'fine' | 'refused'; by: string } };
  }
}
