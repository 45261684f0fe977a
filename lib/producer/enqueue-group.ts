import { hasCode } from '../job/errors.js';
import type { NewJob } from '../job/job.js';
import type { JobStore } from '../store/job-store.js';

interface Call {
  readonly jobs: readonly NewJob[];
  readonly resolve: (ids: number[]) => void;
  readonly reject: (error: unknown) => void;
}

// A group is one statement. What is larger by itself goes by itself.
const MOST_JOBS = 500;
const MOST_CHARACTERS = 250_000;

/**
 * Group commit for producers: while one INSERT is under way the next calls gather, and go together when it returns. A call
 * that comes alone goes at once. Calls in a caller's transaction are not grouped.
 */
export class EnqueueGroup {
  #gathered: Call[] = [];
  #isWriting = false;

  constructor(private readonly store: Pick<JobStore, 'enqueue'>) {}

  enqueue(jobs: readonly NewJob[]): Promise<number[]> {
    if (jobs.length > MOST_JOBS) return this.store.enqueue(jobs);
    return new Promise((resolve, reject) => {
      this.#gathered.push({ jobs, resolve, reject });
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    // After this turn of the event loop, so that what comes together goes together.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#gathered.length > 0) await this.#write(this.#take());
    this.#isWriting = false;
  }

  /** The first calls, as many as one statement takes. */
  #take(): Call[] {
    let jobs = 0;
    let characters = 0;
    const tooMany = this.#gathered.findIndex((call, index) => {
      jobs += call.jobs.length;
      for (const { payload, headers } of call.jobs) characters += payload.length + (headers?.length ?? 0);
      return index > 0 && (jobs > MOST_JOBS || characters > MOST_CHARACTERS);
    });
    return this.#gathered.splice(0, tooMany === -1 ? this.#gathered.length : tooMany);
  }

  async #write(calls: readonly Call[]): Promise<void> {
    try {
      const ids = await this.store.enqueue(calls.flatMap(({ jobs }) => jobs));
      let from = 0;
      for (const { jobs, resolve } of calls) resolve(ids.slice(from, (from += jobs.length)));
    } catch (error) {
      // What the database refuses is one call's fault, and none of the others'.
      if (calls.length > 1 && !hasCode(error, 'STORE_UNAVAILABLE'))
        await Promise.all(calls.map((call) => this.#write([call])));
      else for (const { reject } of calls) reject(error);
    }
  }
}
