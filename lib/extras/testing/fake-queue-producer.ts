import type { EnqueueOptions } from '../../job/enqueue-options.js';
import { JobNotFoundError } from '../../job/errors.js';
import type { NewJob } from '../../job/job.js';
import type { EnqueuedJob, InTransaction } from '../../producer/enqueued-job.js';
import { QueueProducer } from '../../producer/queue-producer.js';
import { MemoryKeys, memoryParts } from './memory-parts.js';

/** An enqueued job, with the payload as its handler would receive it. */
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
  readonly group: string | null;
  readonly subject: string | null;
}

/** A published message. */
export interface RecordedMessage {
  readonly topic: string;
  readonly payload: unknown;
  readonly headers: Record<string, string>;
}

/**
 * A QueueProducer without a database, for tests. It checks its arguments like the real producer, and records the jobs. No
 * queue subscribes to its messages. Its jobs never start, so they own their keys until `clear()`, or until the keys expire.
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
  /** The ids of cancelled jobs. */
  readonly cancelled: number[] = [];
  readonly #keys: MemoryKeys;

  /** @param answers functions that return the results of `request` and `waitFor`, by queue. Both reject without one */
  constructor(answers: Readonly<Record<string, (payload: unknown) => unknown>> = {}) {
    const enqueued: RecordedJob[] = [];
    const answer = async (id: number) => {
      const job = enqueued.find((each) => each.id === id);
      if (!job) throw new JobNotFoundError(id);
      if (Object.hasOwn(answers, job.queue)) return answers[job.queue]!(job.payload);
      throw new Error(`No answer for jobs of queue "${job.queue}": give FakeQueueProducer one.`);
    };
    const keys = new MemoryKeys();
    const record = (job: NewJob) => enqueued.push(recordOf(enqueued.length + 1, job));
    const recordKeyed = (calls: readonly (readonly NewJob[])[]) => {
      const { plan, answers } = keys.plan(calls);
      for (const [id, job] of plan.replacements) enqueued[id - 1] = recordOf(id, job);
      plan.setInsertedIds(plan.inserts.map(record));
      keys.setOwners(plan, { isUnclaimed: true, attempt: 0 });
      return Promise.resolve(answers.map((answer) => answer()));
    };
    const cancel = async (id: number) =>
      enqueued.some((job) => job.id === id) && !this.cancelled.includes(id) && this.cancelled.push(id) > 0;
    const tracker = { waitFor: answer, waitForReply: answer, cancel };
    super(memoryParts(tracker, async (jobs) => jobs.map(record), recordKeyed));
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
    const copy = JSON.parse(JSON.stringify(payload)) as unknown;
    this.published.push({ topic, payload: copy, headers: { ...given.headers } });
    return copies;
  }

  /** Returns itself, because jobs are recorded at once, without transactions. */
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

function recordOf(id: number, job: NewJob): RecordedJob {
  return {
    id,
    queue: job.queue,
    name: job.name,
    payload: JSON.parse(job.payload) as unknown,
    priority: job.priority,
    delayMs: job.delayMs,
    runAt: job.runAtMs === null ? null : new Date(job.runAtMs),
    attempts: job.maxAttempts,
    headers: (job.headers === null ? {} : JSON.parse(job.headers)) as Record<string, string>,
    key: job.key?.text ?? null,
    group: job.group ?? null,
    subject: job.subject ?? null,
  };
}
