import type { EnqueueOptions } from '../job/enqueue-options.js';
import { JobNotFoundError } from '../job/errors.js';
import type { NewJob } from '../job/job.js';
import { resolveQueueOptions } from '../job/queue-options.js';
import { QueueProducer, type EnqueuedJob, type InTransaction } from '../producer/queue-producer.js';
import { requireOpen } from '../store/sql/callers-transaction.js';
import { systemClock } from '../time/clock.js';
import { MemoryKeys } from './memory-keys.js';

/** What was enqueued, as its handler would see it. */
export interface RecordedJob {
  readonly id: number;
  readonly queue: string;
  readonly name: string;
  readonly payload: unknown;
  readonly priority: number;
  readonly delayMs: number | null;
  readonly runAt: Date | null;
  readonly attempts: number | null;
  readonly headers: Record<string, string>;
  readonly key: string | null;
}

/** A message that was published. */
export interface RecordedMessage {
  readonly topic: string;
  readonly payload: unknown;
  readonly headers: Record<string, string>;
}

/**
 * A QueueProducer without a database: it checks everything as the real one does, and records what it was given. Nobody
 * subscribes to what it publishes. Its jobs never begin, so that they hold their keys until `clear()`, or for the time given.
 *
 * @example
 * ```ts
 * const producer = new FakeQueueProducer();
 * const module = await Test.createTestingModule({ providers: [Signups, { provide: QueueProducer, useValue: producer }] }).compile();
 * await module.get(Signups).signUp('ada@example.com');
 * expect(producer.enqueued).toMatchObject([{ queue: 'email.welcome', payload: { to: 'ada@example.com' } }]);
 * ```
 */
export class FakeQueueProducer extends QueueProducer {
  readonly enqueued: RecordedJob[];
  readonly published: RecordedMessage[] = [];
  /** The ids of jobs that were cancelled. */
  readonly cancelled: number[] = [];
  readonly #keys: MemoryKeys;

  /** @param answers what `request` and `waitFor` resolve with, by queue */
  constructor(answers: Readonly<Record<string, (payload: unknown) => unknown>> = {}) {
    const enqueued: RecordedJob[] = [];
    const answer = async (id: number) => {
      const job = enqueued.find((each) => each.id === id);
      if (!job) throw new JobNotFoundError(id);
      if (Object.hasOwn(answers, job.queue)) return answers[job.queue]!(job.payload);
      throw new Error(`No answer for jobs of queue "${job.queue}": give FakeQueueProducer one.`);
    };
    const options = resolveQueueOptions();
    const keys = new MemoryKeys(systemClock);
    const put = (job: NewJob) => enqueued.push(recorded(enqueued.length + 1, job));
    const putKeyed = (calls: readonly (readonly NewJob[])[]) => {
      const plan = keys.plan(calls.flat());
      const answers = calls.map((call) => plan.add(call));
      for (const [id, job] of plan.replacements) enqueued[id - 1] = recorded(id, job);
      plan.number(plan.puts.map(put));
      keys.hold(plan, { isIdle: true, attempt: 0 });
      return Promise.resolve(answers.map((answer) => answer()));
    };
    super({
      store: {
        enqueue: async (jobs, manager) => {
          if (manager) requireOpen(manager);
          return jobs.map(put);
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
        subscribers: async (_topic, manager) => {
          if (manager) requireOpen(manager);
          return [];
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
      following: {
        waitFor: answer,
        answerTo: answer,
        cancel: (id) =>
          Promise.resolve(
            enqueued.some((job) => job.id === id) && !this.cancelled.includes(id) && this.cancelled.push(id) > 0,
          ),
      },
    });
    this.enqueued = enqueued;
    this.#keys = keys;
  }

  /** The payloads enqueued into a queue, in order. */
  payloads(queue: string): unknown[] {
    return this.enqueued.filter((job) => job.queue === queue).map(({ payload }) => payload);
  }

  override async publish(
    topic: string,
    payload: unknown,
    given: EnqueueOptions & InTransaction = {},
  ): Promise<EnqueuedJob[]> {
    const copies = await super.publish(topic, payload, given);
    const seen = JSON.parse(JSON.stringify(payload)) as unknown;
    this.published.push({ topic, payload: seen, headers: { ...given.headers } });
    return copies;
  }

  /** Itself: it knows no transactions. */
  override withManager(): this {
    return this;
  }

  clear(): void {
    this.enqueued.length = 0;
    this.published.length = 0;
    this.cancelled.length = 0;
    this.#keys.clear();
  }
}

function recorded(id: number, job: NewJob): RecordedJob {
  return {
    ...{ id, queue: job.queue, name: job.name, priority: job.priority, delayMs: job.delayMs },
    payload: JSON.parse(job.payload) as unknown,
    runAt: job.runAtMs === null ? null : new Date(job.runAtMs),
    attempts: job.maxAttempts,
    headers: (job.headers === null ? {} : JSON.parse(job.headers)) as Record<string, string>,
    key: job.key?.text ?? null,
  };
}
