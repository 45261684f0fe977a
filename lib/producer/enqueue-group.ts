import { hasCode } from '../job/errors.js';
import type { NewJob } from '../job/job.js';
import type { JobStore } from '../store/job-store.js';

interface Call {
  readonly jobs: readonly NewJob[];
  readonly resolve: (ids: number[]) => void;
  readonly reject: (error: unknown) => void;
}

// Two, so that one is put together while the database writes the other; only where each is a group worth its commit.
const MOST_UNDER_WAY = 2;
const FEWEST_TO_SHARE = 20;

// A group is one statement. What is larger by itself goes by itself.
const MOST_JOBS = 500;
const MOST_CHARACTERS = 250_000;

/**
 * Group commit for producers: while one INSERT is under way the next calls gather, and go together when it returns. A call
 * that comes alone goes at once. Calls in a caller's transaction are not grouped.
 */
export class EnqueueGroup {
  #gathered: Call[] = [];
  #underWay = 0;
  #isTurning = false;

  constructor(private readonly store: Pick<JobStore, 'enqueue'>) {}

  enqueue(jobs: readonly NewJob[]): Promise<number[]> {
    if (jobs.length > MOST_JOBS) return this.store.enqueue(jobs);
    return new Promise((resolve, reject) => {
      this.#gathered.push({ jobs, resolve, reject });
      if (!this.#isTurning) void this.#turn();
    });
  }

  /** After this turn of the event loop, so that what comes together goes together. */
  async #turn(): Promise<void> {
    this.#isTurning = true;
    await new Promise((resolve) => setImmediate(resolve));
    this.#isTurning = false;
    while (this.#mayWrite()) void this.#writeNext();
  }

  #mayWrite(): boolean {
    if (this.#gathered.length === 0 || this.#underWay >= MOST_UNDER_WAY) return false;
    return this.#underWay === 0 || this.#gathered.length >= FEWEST_TO_SHARE;
  }

  async #writeNext(): Promise<void> {
    const share = this.#gathered.length < 2 * FEWEST_TO_SHARE ? 1 : MOST_UNDER_WAY - this.#underWay;
    const calls = this.#take(Math.ceil(this.#gathered.length / share));
    this.#underWay++;
    await this.#write(calls);
    this.#underWay--;
    if (this.#gathered.length > 0 && !this.#isTurning) void this.#turn();
  }

  /** The first calls, so many or as many as one statement takes. */
  #take(most: number): Call[] {
    let jobs = 0;
    let characters = 0;
    const tooMany = this.#gathered.findIndex((call, index) => {
      jobs += call.jobs.length;
      for (const { payload, headers } of call.jobs) characters += payload.length + (headers?.length ?? 0);
      return index > 0 && (jobs > MOST_JOBS || characters > MOST_CHARACTERS);
    });
    return this.#gathered.splice(0, tooMany === -1 ? most : Math.min(most, tooMany));
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
