import { batchesOf, groupBy } from '../common/lists.js';
import { isTurnLong, nextTurn } from '../common/turn.js';
import type { Sending } from '../job/instrumentation.js';
import type { NewFlow } from '../job/flows/flow.js';
import type { NewJob } from '../job/job.js';
import type { CallerTransaction } from '../store/verbs/job-store.js';
import { EnqueueBatcher, KeyedEnqueueBatcher } from './enqueue-batcher.js';
import type { EnqueuedJob, EnqueueStatement } from './enqueued-job.js';
import type { ProducerParts } from './producer-parts.js';
import { WaitingLimit } from './waiting-limit.js';

// The listeners are called for so many jobs before the length of the turn is checked.
const MAX_EVENTS = 1_000;

/** Counts jobs with keys against the `maxWaiting` of their queue, after they are stored. */
type CountStored = (jobs: number) => void;

interface InsertedFlow {
  readonly id: number;
  readonly jobs: EnqueuedJob[];
}

/** Stores checked jobs within the limits of their queues, emits `enqueued`, and notifies workers. */
export class JobInserter {
  readonly #batcher: EnqueueBatcher;
  readonly #keyedBatcher: KeyedEnqueueBatcher;
  readonly #waitingLimit: WaitingLimit;

  constructor(
    private readonly parts: Pick<
      ProducerParts,
      'store' | 'flows' | 'clock' | 'optionsFor' | 'notifier' | 'events' | 'unserved' | 'instrumentations'
    >,
  ) {
    this.#batcher = new EnqueueBatcher(parts.store);
    this.#keyedBatcher = new KeyedEnqueueBatcher(parts.store, parts.clock);
    this.#waitingLimit = new WaitingLimit(parts.store, parts.clock);
  }

  /** Stores all jobs or none. Returns the results in the order of the jobs. */
  insert(
    method: Sending['method'],
    jobs: readonly NewJob[],
    manager: CallerTransaction | undefined,
  ): Promise<EnqueuedJob[]> {
    const { instrumentations } = this.parts;
    if (!instrumentations) return this.#insert(jobs, manager);
    return instrumentations.enqueue(
      method,
      jobs,
      (sent) => this.#insert(sent, manager),
      (enqueued) => enqueued,
    );
  }

  async #insert(jobs: readonly NewJob[], manager: CallerTransaction | undefined): Promise<EnqueuedJob[]> {
    const { notifier } = this.parts;
    const counters = await this.#admit(jobs, manager);
    const isKeyed = jobs.some(hasKey);
    const storing = isKeyed ? this.#storeKeyed(jobs, manager) : this.#store(jobs, manager);
    // Runs beside the commit, which takes longer. The library does not know when a caller's transaction commits.
    if (!manager && isDueNow(jobs[0]!)) notifier.prepare(jobs[0]!.queue);
    const enqueued = await storing;
    const changed = isKeyed ? jobs.filter((_, index) => enqueued[index]!.outcome !== 'existing') : jobs;
    const changedIn = counters.length > 0 ? groupBy(changed, (job) => job.queue) : undefined;
    for (const [queue, countStored] of counters) countStored((changedIn?.get(queue) ?? []).filter(isDueNow).length);
    const created = isKeyed ? enqueued.filter(({ outcome }) => outcome === 'created') : enqueued;
    await this.#afterCommit(manager, created, changed);
    return enqueued;
  }

  /** The INSERT of the job, which the limits of its queue admit now. The caller sends it. */
  statement(job: NewJob): Promise<EnqueueStatement> {
    const { instrumentations } = this.parts;
    if (!instrumentations) return this.#statement(job);
    return instrumentations.enqueue(
      'enqueueStatement',
      [job],
      ([sent]) => this.#statement(sent!),
      () => [],
    );
  }

  async #statement(job: NewJob): Promise<EnqueueStatement> {
    await this.#admit([job]);
    const { text: sql, values } = await this.parts.store.enqueueStatement(job);
    return { sql, values: [...values], notify: () => this.#notifyWorkers(job.queue, [job]) };
  }

  /** Stores all jobs of the flow or none. */
  insertFlow(flow: NewFlow, manager: CallerTransaction | undefined): Promise<InsertedFlow> {
    const { instrumentations } = this.parts;
    if (!instrumentations) return this.#insertFlow(flow, manager);
    return instrumentations.enqueue(
      'flow',
      flow.jobs,
      (jobs) => this.#insertFlow({ ...flow, jobs }, manager),
      ({ jobs }) => jobs,
    );
  }

  async #insertFlow(flow: NewFlow, manager: CallerTransaction | undefined): Promise<InsertedFlow> {
    const { flows } = this.parts;
    await this.#admit(flow.jobs, manager);
    const { id, jobIds } = await flows.create(flow, manager);
    const jobs = flow.jobs.map(({ queue, name }, index): EnqueuedJob => {
      return { id: jobIds[index]!, queue, name, outcome: 'created' };
    });
    const free = flow.jobs.filter(({ isBlocked }) => !isBlocked);
    await this.#afterCommit(manager, jobs, free);
    return { id, jobs };
  }

  /** Rejects with QueueFullError if a queue is full. Returns a counter for each limited queue that gets keyed jobs. */
  async #admit(jobs: readonly NewJob[], manager?: CallerTransaction): Promise<[queue: string, CountStored][]> {
    const counters: [string, CountStored][] = [];
    for (const [queue, jobsOfQueue] of byQueue(jobs)) {
      if (jobsOfQueue.length < jobs.length && isTurnLong()) await nextTurn();
      const { maxWaiting } = this.parts.optionsFor(queue);
      if (maxWaiting === false) continue;
      const waiting = jobsOfQueue.filter(isDueNow).length;
      const isKeyed = jobsOfQueue.some(hasKey);
      const countNow = isKeyed ? 0 : waiting;
      const countStored = await this.#waitingLimit.admit(queue, waiting, maxWaiting, manager, countNow);
      if (isKeyed) counters.push([queue, countStored]);
    }
    return counters;
  }

  async #store(jobs: readonly NewJob[], manager: CallerTransaction | undefined): Promise<EnqueuedJob[]> {
    const ids = await (manager ? this.parts.store.enqueue(jobs, manager) : this.#batcher.enqueue(jobs));
    return jobs.map(({ queue, name }, index) => ({ id: ids[index]!, queue, name, outcome: 'created' }));
  }

  async #storeKeyed(jobs: readonly NewJob[], manager: CallerTransaction | undefined): Promise<EnqueuedJob[]> {
    const inTransaction = manager && (await this.parts.store.enqueueKeyedInTransaction(jobs, manager));
    const results = inTransaction ?? (await this.#keyedBatcher.enqueue(jobs));
    return results.map(({ id, name, outcome }, index) => ({ id, queue: jobs[index]!.queue, name, outcome }));
  }

  /** @param changed the jobs that are new or replaced another one */
  async #afterCommit(
    manager: CallerTransaction | undefined,
    created: readonly EnqueuedJob[],
    changed: readonly NewJob[],
  ): Promise<void> {
    if (manager) this.parts.store.afterCommit(manager, () => void this.#onCommitted(created, changed));
    else await this.#onCommitted(created, changed);
  }

  async #onCommitted(created: readonly EnqueuedJob[], changed: readonly NewJob[]): Promise<void> {
    for (const some of batchesOf(created, MAX_EVENTS)) {
      this.parts.events.emitChanges('enqueued', some);
      if (some.length < created.length && isTurnLong()) await nextTurn();
    }
    for (const [queue, jobs] of byQueue(changed)) {
      this.#notifyWorkers(queue, jobs);
      if (jobs.length < changed.length && isTurnLong()) await nextTurn();
    }
  }

  #notifyWorkers(queue: string, jobs: readonly NewJob[]): void {
    const { notifier, unserved } = this.parts;
    if (!notifier.serves(queue)) unserved?.onEnqueued(queue);
    const delays = jobs.filter((job) => job.delayMs !== null).map((job) => job.delayMs!);
    if (delays.length > 0) notifier.expectDue(queue, leastOf(delays));
    const times = jobs.filter((job) => job.runAtMs !== null).map((job) => job.runAtMs!);
    if (times.length > 0) notifier.expectAt(queue, leastOf(times));
    const waiting = jobs.filter(isDueNow).length;
    if (waiting > 0) notifier.wake(queue, waiting);
  }
}

function byQueue(jobs: readonly NewJob[]): Iterable<[queue: string, jobs: readonly NewJob[]]> {
  // Most calls enqueue into one queue.
  const queue = jobs[0]?.queue;
  if (queue !== undefined && jobs.every((job) => job.queue === queue)) return [[queue, jobs]];
  return groupBy(jobs, (job) => job.queue);
}

/** Math.min accepts no list of any length. */
function leastOf(numbers: readonly number[]): number {
  return numbers.reduce((least, number) => Math.min(least, number));
}

function hasKey({ key }: NewJob): boolean {
  return key !== undefined;
}

function isDueNow({ delayMs, runAtMs, isBlocked }: NewJob): boolean {
  return delayMs === null && runAtMs === null && !isBlocked;
}
