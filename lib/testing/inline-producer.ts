import { JobNotFoundError, ResultInvalidError } from '../job/errors.js';
import type { NewJob } from '../job/job.js';
import type { AsDeclared, PayloadOf, QueueName } from '../job/queue-jobs.js';
import { completion } from '../job/payload.js';
import { resolveQueueOptions } from '../job/queue-options.js';
import { patternsOf, subscriptionsOf, type SubscriptionOptions } from '../job/topics.js';
import { QueueProducer } from '../producer/queue-producer.js';
import type { JobContext } from '../runtime/job-context.js';
import { createJobContext } from './job-context.js';
import { requireOpen } from '../store/sql/callers-transaction.js';
import { systemClock } from '../time/clock.js';
import { MemoryKeys } from './memory-keys.js';

/** The function that handles a queue's jobs. */
export type InlineHandler<Name extends string = string> = (job: JobContext<AsDeclared<PayloadOf<Name>>>) => unknown;

/** The functions that handle jobs, by queue. */
export type InlineHandlers = { readonly [Name in QueueName]?: InlineHandler<Name> };

/**
 * A QueueProducer without a database that runs the handler inside `enqueue`, which rejects where the handler throws, and
 * inside `publish` those of the queues that subscribe. A job holds its key while its handler runs, or for the time given.
 * Delays, retries and transactions are not played: for those there is QueueHarness.
 *
 * @example
 * ```ts
 * const producer = new InlineQueueProducer({ 'email.welcome': (job) => emails.welcome(job) });
 * ```
 */
export class InlineQueueProducer extends QueueProducer {
  constructor(handlers: InlineHandlers, subscriptions: Readonly<Record<string, SubscriptionOptions>> = {}) {
    const options = resolveQueueOptions();
    const keys = new MemoryKeys(systemClock);
    let lastId = 0;
    const results = new Map<number, { queue: string; value: unknown }>();
    const result = async (id: number) => {
      if (!results.has(id)) throw new JobNotFoundError(id);
      const { queue, value } = results.get(id)!;
      const { error } = completion(queue, value, options.maxPayloadBytes);
      if (error) throw new ResultInvalidError(id, queue, error.message);
      return value;
    };
    const run = async (job: NewJob, id: number) => {
      results.set(id, { queue: job.queue, value: await runInline(handlers, job, id) });
    };
    const putKeyed = async (calls: readonly (readonly NewJob[])[]) => {
      const plan = keys.plan(calls.flat());
      const answers = calls.map((call) => plan.add(call));
      const jobs = plan.puts.map((job) => ({ id: ++lastId, job }));
      plan.number(jobs.map(({ id }) => id));
      keys.hold(plan, { isIdle: false, attempt: 1 });
      try {
        for (const { id, job } of jobs) await run(job, id).finally(() => keys.ended(id));
      } finally {
        for (const { id } of jobs) keys.ended(id);
      }
      return answers.map((answer) => answer());
    };
    super({
      store: {
        enqueue: async (jobs, manager) => {
          if (manager) requireOpen(manager);
          const ids: number[] = [];
          for (const job of jobs) {
            ids.push(++lastId);
            await run(job, lastId);
          }
          return ids;
        },
        enqueueKeyed: putKeyed,
        enqueueKeyedWithin: async (_jobs, manager) => {
          requireOpen(manager);
          return undefined;
        },
        afterCommit: (_transaction, act) => act(),
        countWaiting: () => Promise.resolve(0),
      },
      queueStore: {
        subscribers: async (topic, manager) => {
          if (manager) requireOpen(manager);
          return subscribersOf(subscriptions, topic);
        },
      },
      clock: systemClock,
      optionsFor: () => options,
      hints: {
        foresee: () => undefined,
        wake: () => undefined,
        expectDue: () => undefined,
        expectAt: () => undefined,
      },
      events: { tell: () => undefined },
      // Whatever was enqueued has run.
      following: { cancel: () => Promise.resolve(false), waitFor: result, answerTo: result },
    });
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
