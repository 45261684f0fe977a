/**
 * The queues of an application, with the payloads and results of their jobs. If the application declares at least one
 * queue, the compiler rejects undeclared queues, and payloads or handlers of another type. A pattern declares queues
 * whose names are only known at run time.
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
 *
 * `[undeclared: string]: { payload: unknown; result?: unknown }` allows all other names too, without types.
 */
// oxlint-disable-next-line typescript/no-empty-object-type
export interface QueueJobs {}

/** The names of the queues that QueueJobs declares; any text if it declares none. */
export type QueueName = keyof QueueJobs extends never
  ? string
  : // The values of a mapped type: of a `keyof`, an error of the compiler does not list the names.
    { [Name in Extract<keyof QueueJobs, string>]: Name }[Extract<keyof QueueJobs, string>];

/** The name of a queue, or a prefix with a `*` at its end, which matches all queues with that prefix. */
// oxlint-disable-next-line typescript/no-redundant-type-constituents -- not if queues are declared
export type QueuePattern = QueueName | `${string}*`;

/** The payload of the jobs of a queue: the declared type, else `unknown`. */
export type PayloadOf<Queue extends string> = Queue extends keyof QueueJobs
  ? QueueJobs[Queue] extends { payload: infer Payload }
    ? Payload
    : unknown
  : unknown;

/** The declared type of a payload or result; without a declaration, the type that the handler names. */
// oxlint-disable-next-line typescript/no-explicit-any
export type AsDeclared<Declared> = unknown extends Declared ? any : Declared;

/** The result of the handler of a queue: the declared type, else `unknown`. */
export type ResultOf<Queue extends string> = Queue extends keyof QueueJobs
  ? QueueJobs[Queue] extends { result: infer Result }
    ? Result
    : unknown
  : unknown;
