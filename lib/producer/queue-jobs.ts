/**
 * The queues of an application and what their jobs carry. Declare yours, and payloads are checked by the compiler:
 *
 * @example
 * ```ts
 * declare module 'nestjs-sql-queue' {
 *   interface QueueJobs {
 *     'email.send': { payload: { to: string }; result: { messageId: string } };
 *   }
 * }
 * ```
 */
// oxlint-disable-next-line typescript/no-empty-object-type
export interface QueueJobs {}

/** What jobs of the queue carry: as declared, or anything for a queue that is not. */
export type PayloadOf<Queue extends string> = Queue extends keyof QueueJobs
  ? QueueJobs[Queue] extends { payload: infer Payload }
    ? Payload
    : unknown
  : unknown;

/** What handlers of the queue return. */
export type ResultOf<Queue extends string> = Queue extends keyof QueueJobs
  ? QueueJobs[Queue] extends { result: infer Result }
    ? Result
    : unknown
  : unknown;
