import type { NewJob } from '../job/job.js';
import type { JobStore } from '../store/jobs/job-store.js';
import { isFaultOfOneCall, MAX_BATCH_JOBS, shiftBatch, type EnqueueCall } from './enqueue-calls.js';

interface Call extends EnqueueCall {
  readonly resolve: (ids: number[]) => void;
}

// Two, so that the process builds one batch while the database writes the other. A second flush starts only if enough
// calls are pending to be worth a commit of their own.
const MAX_FLUSHES_IN_FLIGHT = 2;
const MIN_CALLS_PER_FLUSH = 20;

/**
 * Group commit for producers: calls gather while an INSERT is under way, and the next INSERT stores them together. A
 * single call is stored at once. Calls in a caller's transaction are not batched.
 */
export class EnqueueBatcher {
  #pending: Call[] = [];
  #flushesInFlight = 0;
  #isFlushScheduled = false;

  constructor(private readonly store: Pick<JobStore, 'enqueue'>) {}

  /** Resolves with the ids in the order of the jobs. */
  enqueue(jobs: readonly NewJob[]): Promise<number[]> {
    if (jobs.length > MAX_BATCH_JOBS) return this.store.enqueue(jobs);
    return new Promise((resolve, reject) => {
      this.#pending.push({ jobs, resolve, reject });
      if (!this.#isFlushScheduled) void this.#scheduleFlush();
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

  async #flush(calls: readonly Call[]): Promise<void> {
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
