import { JobNotFoundError, ResultInvalidError } from '../../job/errors.js';
import type { NewJob } from '../../job/job.js';
import type { AsDeclared, PayloadOf, QueueName } from '../../job/queue-jobs.js';
import { completeOutcome } from '../../job/outcome.js';
import { resolveQueueOptions } from '../../job/queue-options.js';
import { patternsOf, subscriptionsOf, type SubscriptionOptions } from '../../job/topics.js';
import { QueueProducer } from '../../producer/queue-producer.js';
import type { JobContext } from '../../worker/run/job-context.js';
import { createJobContext } from './create-job-context.js';
import { MemoryKeys, memoryParts } from './memory-parts.js';

/** Handles the jobs of one queue. */
export type InlineHandler<Name extends string = string> = (job: JobContext<AsDeclared<PayloadOf<Name>>>) => unknown;

/** The handlers, by queue. */
export type InlineHandlers = { readonly [Name in QueueName]?: InlineHandler<Name> };

/**
 * A QueueProducer without a database that runs handlers at once, for tests. `enqueue` runs the handler of the queue, and
 * rejects if it throws. `publish` runs the handlers of the subscribed queues. A job owns its key while its handler runs, or
 * until the key expires. Delays, retries and transactions have no effect; use QueueHarness to test them.
 *
 * @example
 * ```ts
 * const producer = new InlineQueueProducer({ 'email.welcome': (job) => emails.welcome(job) });
 * ```
 */
export class InlineQueueProducer extends QueueProducer {
  constructor(handlers: InlineHandlers, subscriptions: Readonly<Record<string, SubscriptionOptions>> = {}) {
    const keys = new MemoryKeys();
    let lastId = 0;
    const results = new Map<number, { queue: string; value: unknown }>();
    const result = async (id: number) => {
      if (!results.has(id)) throw new JobNotFoundError(id);
      const { queue, value } = results.get(id)!;
      const { error } = await completeOutcome(queue, value, resolveQueueOptions());
      if (error) throw new ResultInvalidError(id, queue, error.message);
      return value;
    };
    const run = async (job: NewJob, id: number) => {
      results.set(id, { queue: job.queue, value: await runInline(handlers, job, id) });
    };
    const runKeyed = async (calls: readonly (readonly NewJob[])[]) => {
      const { plan, answers } = keys.plan(calls);
      const jobs = plan.inserts.map((job) => ({ id: ++lastId, job }));
      plan.setInsertedIds(jobs.map(({ id }) => id));
      keys.setOwners(plan, { isUnclaimed: false, attempt: 1 });
      try {
        for (const { id, job } of jobs) await run(job, id).finally(() => keys.removeJob(id));
      } finally {
        for (const { id } of jobs) keys.removeJob(id);
      }
      return answers.map((answer) => answer());
    };
    const runAll = async (jobs: readonly NewJob[]) => {
      const ids: number[] = [];
      for (const job of jobs) {
        ids.push(++lastId);
        await run(job, lastId);
      }
      return ids;
    };
    // Every enqueued job has already run, so no job can be cancelled.
    const tracker = { cancel: () => Promise.resolve(false), waitFor: result, waitForReply: result };
    super(memoryParts(tracker, runAll, runKeyed, (topic) => subscribersOf(subscriptions, topic)));
  }
}

function subscribersOf(subscriptions: Readonly<Record<string, SubscriptionOptions>>, topic: string) {
  const patterns = patternsOf(topic);
  return Object.entries(subscriptions).flatMap(([queue, given]) =>
    subscriptionsOf(given)
      .filter((one) => patterns.includes(one.topic))
      .map(({ where }) => ({ queue, where })),
  );
}

async function runInline(handlers: InlineHandlers, job: NewJob, id: number): Promise<unknown> {
  const handler = Object.hasOwn(handlers, job.queue)
    ? (handlers as Record<string, InlineHandler>)[job.queue]
    : undefined;
  if (!handler)
    throw new Error(
      `No inline handler for queue "${job.queue}" (known: ${Object.keys(handlers).join(', ') || 'none'}).`,
    );
  const headers = (job.headers === null ? {} : JSON.parse(job.headers)) as Record<string, string>;
  return handler(createJobContext(JSON.parse(job.payload), { id, queue: job.queue, name: job.name, headers }));
}
