import { expected, isWhole } from './expectation.js';
import { queueOptionProblems, type QueueOptions } from './queue-options.js';
import { subscriptionProblems, type SubscriptionOptions } from './topics.js';

/** What a decorator can say besides. */
export interface ProcessorOptions extends QueueOptions {
  /**
   * The handler takes up to so many jobs at a call, 1 to 1,000: an array of JobContext, as many as there are by then,
   * never waiting for more. Returning completes them all, throwing fails them all; returning what `Promise.allSettled`
   * gives, one for each job in their order, ends each in its own way: a job whose outcome is missing fails, and if there are
   * more outcomes than jobs, all fail. `concurrency` counts calls, and `timeout` is the
   * time of one call. Default: one job at a call, not in an array.
   */
  batch?: number;
  /** The queue gets a copy of each message that is published under such a topic: see SubscriptionOptions. Default: of none. */
  topic?: SubscriptionOptions['topic'];
  /** Copies are only made of messages with these headers. */
  where?: SubscriptionOptions['where'];
}

/** What is wrong with the options of a decorator, one line a problem. */
export function processorOptionProblems(options: unknown, queue?: string): string[] {
  if (typeof options !== 'object' || options === null) return queueOptionProblems(options, queue);
  const { batch, topic, where, ...rest } = options as ProcessorOptions;
  const problem = expected(
    batch === undefined || isWhole(batch, 1, 1_000),
    'batch to be a whole number from 1 to 1000',
    batch,
  );
  return [
    ...(problem ? [problem] : []),
    ...(topic === undefined && where === undefined ? [] : subscriptionProblems({ topic, where })),
    ...queueOptionProblems(rest, queue),
  ];
}
