import { option, optionProblems, whole } from './option-schema.js';
import { queueOptionProblems, type QueueOptions } from './queue-options.js';
import { subscriptionProblems, type SubscriptionOptions } from './topics.js';

/** Options of a queue and of its handler, as `@QueueProcessor()` takes them. */
export interface ProcessorOptions extends QueueOptions {
  /**
   * The handler receives an array of 1 to `batch` JobContext objects per call; `batch` is 1 to 1,000. A call starts
   * with the jobs that are claimed at that moment and never waits for more. `concurrency` counts calls, and `timeout`
   * limits one call.
   *
   * If the handler returns, all jobs are completed; if it throws, all fail. If it returns the result of
   * `Promise.allSettled`, with one entry per job in their order, each job ends by its own entry. A job without an entry
   * fails. If there are more entries than jobs, all jobs fail. Default: one job per call, not in an array.
   */
  batch?: number;
  /** The queue receives a copy of each message that is published under one of these topics. Default: no topic. */
  topic?: SubscriptionOptions['topic'];
  /** Limits `topic` to messages with these headers: see SubscriptionOptions. Default: every message. */
  where?: SubscriptionOptions['where'];
}

export function processorOptionProblems(options: unknown, queue?: string): string[] {
  if (typeof options !== 'object' || options === null) return queueOptionProblems(options, queue);
  const { batch, topic, where, ...rest } = options as ProcessorOptions;
  return [
    ...optionProblems({ batch: option(whole(1, 1_000)) }, { batch }),
    ...(topic === undefined && where === undefined ? [] : subscriptionProblems({ topic, where })),
    ...queueOptionProblems(rest, queue),
  ];
}
