import { pageSize } from '../common/lists.js';
import { inRootContext } from '../common/async-context.js';
import { Batcher } from '../common/batcher.js';
import type { Clock } from '../common/clock.js';
import { hasCode, StoreUnavailableError } from '../job/errors.js';
import type { NewJob } from '../job/job.js';
import type { JobStore } from '../store/verbs/job-store.js';
import type { KeyedCallResult, KeyStore, KeyedJobResult } from '../store/features/keys/key-store.js';

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

/**
 * Group commit for producers: calls gather while an INSERT is under way, and the next INSERT stores them together. A
 * single call is stored at once. Calls in a caller's transaction are not batched.
 */
export class EnqueueBatcher {
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
