/**
 * The queues of an application, and the payloads and results of their jobs. Once it declares one, the compiler knows all names:
 * a queue that is not declared, and a payload or a handler that does not fit, do not compile. Queues that get their names at run time
 * are declared by a pattern.
 *
 * @example
 * ```ts
 * declare module 'nestjs-sql-queue' {
 *   interface QueueJobs {
 *     'email.send': { payload: { to: string }; result: { messageId: string } };
 *     [plugin: `plugin.${string}`]: { payload: unknown };
 *   }
 * }
 * ```
 */
// oxlint-disable-next-line typescript/no-empty-object-type
export interface QueueJobs {}

/** The names of the queues that QueueJobs declares; any text as long as it declares none. */
export type QueueName = keyof QueueJobs extends never ? string : Extract<keyof QueueJobs, string>;

/** The name of a queue, or a prefix that ends in `*` and stands for all queues whose names begin with it. */
// oxlint-disable-next-line typescript/no-redundant-type-constituents -- not if queues are declared
export type QueuePattern = QueueName | `${string}*`;

/** The payload of the queue's jobs: as declared, else `unknown`. */
export type PayloadOf<Queue extends string> = Queue extends keyof QueueJobs
  ? QueueJobs[Queue] extends { payload: infer Payload }
    ? Payload
    : unknown
  : unknown;

/** What a handler may take a job's payload, or result, to be: as declared, else what it says itself. */
// oxlint-disable-next-line typescript/no-explicit-any
export type AsDeclared<Declared> = unknown extends Declared ? any : Declared;

/** The result of the queue's handler: as declared, else `unknown`. */
export type ResultOf<Queue extends string> = Queue extends keyof QueueJobs
  ? QueueJobs[Queue] extends { result: infer Result }
    ? Result
    : unknown
  : unknown;
