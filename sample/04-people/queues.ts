export const CHECK = 'photo.check';

/** The stage of photos that need a second opinion. */
export const REVIEW = 'pending review';

declare module 'nestjs-sql-queue' {
  interface QueueJobs {
    [CHECK]: { payload: { title: string }; result: { verdict: 'fine' | 'refused'; by: string } };
  }
}
