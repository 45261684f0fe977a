import { inRootContext } from '../common/async-context.js';
import { Batcher } from '../common/batcher.js';
import type { Clock } from '../common/clock.js';
import { batchesOf, groupBy, pageSize } from '../common/lists.js';
import { isTurnLong, nextTurn } from '../common/turn.js';
import { hasCode, isOutcomeUnknown, StoreUnavailableError } from '../job/errors.js';
import type { Sending } from '../job/instrumentation.js';
import type { NewJob } from '../job/job.js';
import type { KeyedCallResult, KeyStore, KeyedJobResult } from '../store/features/keys/key-store.js';
import type { CallerTransaction, JobStore } from '../store/verbs/job-store.js';
import type { EnqueuedJob } from './enqueued-job.js';
import type { ProducerParts } from './producer-parts.js';
import { WaitingLimit } from './waiting-limit.js';

// The listeners are called for so many jobs before the length of the turn is checked.
const MAX_EVENTS = 1_000;

// The limits of one statement. A single call above them gets a statement of its own.
const MAX_BATCH_JOBS = 500;
const MAX_BATCH_CHARACTERS = 250_000;
// Two, so that the process builds one batch while the database writes the other. A second flush starts only if enough
// calls are pending to be worth a commit of their own: the commit of MySQL costs as much as some 60 rows. With 20, 50
// producers had the same rate for a quarter more CPU time of their process.
const MAX_FLUSHES_IN_FLIGHT = 2;
const MIN_CALLS_PER_FLUSH = 60;
// The lock timeout of every transaction of the library.
const LOCK_TIMEOUT_MS = 20_000;
const MAX_RETRY_DELAY_MS = 30;

/** The room that a queue with `maxWaiting` has given to the jobs of a call. */
interface Admitted {
  readonly queue: string;
  /** The jobs that count as waiting before they are stored: none with keys, some of which may turn out to exist. */
  readonly counted: number;
  /** Counts this many more jobs as waiting. */
  readonly count: (jobs: number) => void;
}

/** Stores checked jobs within the limits of their queues, emits `enqueued`, and notifies workers. */
export class JobInserter {
  readonly #batcher: EnqueueBatcher;
  readonly #keyedBatcher: KeyedEnqueueBatcher;
  readonly #waitingLimit: WaitingLimit;

  constructor(
    private readonly parts: Pick<
      ProducerParts,
      'store' | 'clock' | 'optionsFor' | 'notifier' | 'events' | 'unserved' | 'instrumentations'
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
    const insert = (sent: readonly NewJob[]) => this.#insert(sent, manager);
    return instrumentations ? instrumentations.enqueue(method, jobs, insert, (enqueued) => enqueued) : insert(jobs);
  }

  async #insert(jobs: readonly NewJob[], manager: CallerTransaction | undefined): Promise<EnqueuedJob[]> {
    const isKeyed = jobs.some(hasKey);
    const store = () => {
      const storing = isKeyed ? this.#storeKeyed(jobs, manager) : this.#store(jobs, manager);
      // Runs beside the commit, which takes longer. The library does not know when a caller's transaction commits.
      if (!manager && isDueNow(jobs[0]!)) this.parts.notifier.prepare(jobs[0]!.queue);
      return storing;
    };
    const changedBy = (enqueued: readonly EnqueuedJob[]) =>
      isKeyed ? jobs.filter((_, index) => enqueued[index]!.outcome !== 'existing') : jobs;
    const enqueued = await this.storeWithinLimits(jobs, manager, store, changedBy);
    const created = isKeyed ? enqueued.filter(({ outcome }) => outcome === 'created') : enqueued;
    await this.afterCommit(manager, created, changedBy(enqueued));
    return enqueued;
  }

  /**
   * Calls `store`, or rejects with QueueFullError if a queue has no room for its jobs. Jobs that `store` has not stored take
   * no room.
   *
   * @param changedBy the jobs that are new or replaced another one. Default: all
   */
  async storeWithinLimits<T>(
    jobs: readonly NewJob[],
    manager: CallerTransaction | undefined,
    store: () => Promise<T>,
    changedBy: (stored: T) => readonly NewJob[] = () => jobs,
  ): Promise<T> {
    const admitted = await this.#admit(jobs, manager);
    try {
      const stored = await store();
      recount(admitted, changedBy(stored));
      return stored;
    } catch (error) {
      // A commit with an unknown outcome may have stored the jobs.
      if (!isOutcomeUnknown(error)) recount(admitted, []);
      throw error;
    }
  }

  async #admit(jobs: readonly NewJob[], manager: CallerTransaction | undefined): Promise<Admitted[]> {
    const admitted: Admitted[] = [];
    try {
      for (const [queue, jobsOfQueue] of byQueue(jobs)) {
        if (jobsOfQueue.length < jobs.length && isTurnLong()) await nextTurn();
        const { maxWaiting } = this.parts.optionsFor(queue);
        if (maxWaiting === false) continue;
        const waiting = jobsOfQueue.filter(isDueNow).length;
        const counted = jobsOfQueue.some(hasKey) ? 0 : waiting;
        const count = await this.#waitingLimit.admit(queue, waiting, maxWaiting, manager, counted);
        admitted.push({ queue, counted, count });
      }
    } catch (error) {
      recount(admitted, []);
      throw error;
    }
    return admitted;
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

  /**
   * Emits `enqueued` and notifies workers, after the commit of `manager` if one is given.
   *
   * @param changed the jobs that are new or replaced another one
   */
  async afterCommit(
    manager: CallerTransaction | undefined,
    created: readonly EnqueuedJob[],
    changed: readonly NewJob[],
  ): Promise<void> {
    if (manager) this.parts.store.afterCommit(manager, () => void this.#onCommitted(created, changed));
    else await this.#onCommitted(created, changed);
  }

  async #onCommitted(created: readonly EnqueuedJob[], changed: readonly NewJob[]): Promise<void> {
    const { events } = this.parts;
    if (events.hasAnyListener) {
      for (const some of batchesOf(created, MAX_EVENTS)) {
        events.emitChanges('enqueued', some);
        if (some.length < created.length && isTurnLong()) await nextTurn();
      }
    }
    for (const [queue, jobs] of byQueue(changed)) {
      this.notifyWorkers(queue, jobs);
      if (jobs.length < changed.length && isTurnLong()) await nextTurn();
    }
  }

  notifyWorkers(queue: string, jobs: readonly NewJob[]): void {
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

/** Counts the jobs that were stored in place of those that were admitted. */
function recount(admitted: readonly Admitted[], stored: readonly NewJob[]): void {
  if (admitted.length === 0) return;
  const waiting = groupBy(stored.filter(isDueNow), ({ queue }) => queue);
  for (const { queue, counted, count } of admitted) count((waiting.get(queue)?.length ?? 0) - counted);
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

/** One call of a producer that waits for its statement. */
interface EnqueueCall<Result> {
  readonly jobs: readonly NewJob[];
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

interface KeyedCall extends EnqueueCall<readonly KeyedJobResult[]> {
  /** Monotonic time of the call in milliseconds. */
  readonly calledAt: number;
  tries: number;
}

/**
 * Group commit for producers: calls gather while an INSERT is under way, and the next INSERT stores them together. A
 * single call is stored at once. Calls in a caller's transaction are not batched.
 */
class EnqueueBatcher {
  #pending: EnqueueCall<number[]>[] = [];
  #flushesInFlight = 0;
  #isFlushScheduled = false;

  constructor(private readonly store: Pick<JobStore, 'enqueue'>) {}

  /** Resolves with the ids in the order of the jobs. */
  enqueue(jobs: readonly NewJob[]): Promise<number[]> {
    if (jobs.length > pageSize(MAX_BATCH_JOBS)) return this.store.enqueue(jobs);
    return new Promise((resolve, reject) => {
      this.#pending.push({ jobs, resolve, reject });
      if (!this.#isFlushScheduled) void inRootContext(() => this.#scheduleFlush());
    });
  }

  /** Flushes after this turn of the event loop, so that all calls of the turn share one statement. */
  async #scheduleFlush(): Promise<void> {
    this.#isFlushScheduled = true;
    await new Promise((resolve) => setImmediate(resolve));
    this.#isFlushScheduled = false;
    while (this.#mayFlush()) void this.#flushNext();
  }

  #mayFlush(): boolean {
    if (this.#pending.length === 0 || this.#flushesInFlight >= MAX_FLUSHES_IN_FLIGHT) return false;
    return this.#flushesInFlight === 0 || this.#pending.length >= MIN_CALLS_PER_FLUSH;
  }

  async #flushNext(): Promise<void> {
    const batches = this.#pending.length < 2 * MIN_CALLS_PER_FLUSH ? 1 : MAX_FLUSHES_IN_FLIGHT - this.#flushesInFlight;
    const calls = shiftBatch(this.#pending, Math.ceil(this.#pending.length / batches));
    this.#flushesInFlight++;
    await this.#flush(calls);
    this.#flushesInFlight--;
    if (this.#pending.length > 0 && !this.#isFlushScheduled) void this.#scheduleFlush();
  }

  async #flush(calls: readonly EnqueueCall<number[]>[]): Promise<void> {
    try {
      const ids = await this.store.enqueue(calls.flatMap(({ jobs }) => jobs));
      let from = 0;
      for (const { jobs, resolve } of calls) resolve(ids.slice(from, (from += jobs.length)));
    } catch (error) {
      if (isFaultOfOneCall(calls, error)) await Promise.all(calls.map((call) => this.#flush([call])));
      else for (const { reject } of calls) reject(error);
    }
  }
}

/**
 * Group commit for jobs with keys. One batch is in flight at a time, because calls of this process with the same key
 * would only block each other. A call with a key that another transaction has locked is retried after a random delay of
 * up to 30 ms, and delays no other call.
 */
export class KeyedEnqueueBatcher {
  readonly #batcher = new Batcher<KeyedCall>((calls) => this.#flushAll([...calls]));

  constructor(
    private readonly store: Pick<KeyStore, 'enqueueKeyed'>,
    private readonly clock: Clock,
  ) {}

  /** Rejects with StoreUnavailableError if another transaction keeps a key locked for 20 s. */
  enqueue(jobs: readonly NewJob[]): Promise<readonly KeyedJobResult[]> {
    return new Promise((resolve, reject) => {
      void this.#batcher.add({ jobs, calledAt: this.clock.monotonic(), tries: 0, resolve, reject });
    });
  }

  /** Never rejects. */
  async #flushAll(calls: KeyedCall[]): Promise<void> {
    while (calls.length > 0) await this.#flush(shiftBatch(calls));
  }

  async #flush(calls: readonly KeyedCall[]): Promise<void> {
    try {
      const results = await this.store.enqueueKeyed(calls.map(({ jobs }) => jobs));
      calls.forEach((call, index) => this.#resolveCall(call, results[index]!));
    } catch (error) {
      if (isFaultOfOneCall(calls, error)) for (const call of calls) await this.#flush([call]);
      else for (const { reject } of calls) reject(error);
    }
  }

  #resolveCall(call: KeyedCall, result: KeyedCallResult): void {
    if (result instanceof Error) call.reject(result);
    else if (result !== 'locked') call.resolve(result);
    else if (this.clock.monotonic() - call.calledAt >= LOCK_TIMEOUT_MS) call.reject(lockTimeoutError(call));
    else void this.#retryLater(call);
  }

  async #retryLater(call: KeyedCall): Promise<void> {
    await this.clock.sleep(Math.random() * Math.min(2 ** ++call.tries, MAX_RETRY_DELAY_MS));
    void this.#batcher.add(call);
  }
}

/** Removes the first calls from `pending`: as many as fit into one statement, `maxCalls` at most, and at least one. */
function shiftBatch<Call extends EnqueueCall<never>>(pending: Call[], maxCalls = pending.length): Call[] {
  const maxJobs = pageSize(MAX_BATCH_JOBS);
  let jobs = 0;
  let characters = 0;
  const firstTooMany = pending.findIndex((call, index) => {
    jobs += call.jobs.length;
    for (const { payload, headers } of call.jobs) characters += payload.length + (headers?.length ?? 0);
    return index > 0 && (jobs > maxJobs || characters > MAX_BATCH_CHARACTERS);
  });
  return pending.splice(0, firstTooMany === -1 ? maxCalls : Math.min(maxCalls, firstTooMany));
}

/** Whether each call of a failed batch is stored alone next, because one bad call must not fail the others. */
function isFaultOfOneCall(calls: readonly unknown[], error: unknown): boolean {
  return calls.length > 1 && !hasCode(error, 'STORE_UNAVAILABLE');
}

function lockTimeoutError({ jobs }: KeyedCall): StoreUnavailableError {
  const keys = jobs.flatMap(({ key }) => (key ? JSON.stringify(key.text) : []));
  return new StoreUnavailableError(
    `Another transaction has locked the key ${keys.slice(0, 3).join(', ')}${keys.length > 3 ? ', …' : ''} for ` +
      `${LOCK_TIMEOUT_MS / 1_000} s. If your own transaction holds the lock while it waits for enqueue(), pass its ` +
      '`manager` to enqueue().',
    'not-done',
    undefined,
    true,
  );
}
