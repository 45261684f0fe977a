import type { ClaimedJob } from '../job/job.js';
import type { ResolvedQueueOptions } from '../job/queue-options.js';

// Jobs claimed ahead shall begin within this time, so that a short queue is shared out between workers.
const AHEAD_MS = 100;
const MOST_AHEAD = 1_000;
// One claim shall not fill the memory with large payloads; before any has been seen it is a small one.
const MOST_BYTES = 8_000_000;
const FIRST_CLAIM = 100;
// Jobs of which the database is told beforehand that they may begin shall do so within this time: about as long as it takes
// to write a full flush, for which those that may not begin would have to wait.
const START_AHEAD_MS = 25;
const MOST_STARTED_AHEAD = 500;
// How much of the average a new run time makes up.
const WEIGHT = 0.1;

/** How many jobs to claim ahead of free slots, and to declare begun ahead of time: many where they are short. */
export class Prefetch {
  #averageMs: number | undefined;
  #averageBytes: number | undefined;

  /** @param atOnce how many jobs can run at once */
  constructor(
    private readonly options: Pick<ResolvedQueueOptions, 'prefetch' | 'leaseMs' | 'retry'>,
    public atOnce: number,
  ) {}

  note(ranMs: number): void {
    this.#averageMs = this.#averageMs === undefined ? ranMs : this.#averageMs + WEIGHT * (ranMs - this.#averageMs);
  }

  /** Of the jobs that a claim brought. */
  noteSizes(jobs: readonly ClaimedJob[]): void {
    this.#averageBytes = jobs.reduce((sum, { payload }) => sum + payload.length, 0) / jobs.length;
  }

  /** The most jobs to ask for at a time. */
  get largestClaim(): number {
    if (this.#averageBytes === undefined) return FIRST_CLAIM;
    return Math.max(1, Math.floor(MOST_BYTES / (this.#averageBytes + 1)));
  }

  get size(): number {
    const { prefetch, leaseMs } = this.options;
    if (prefetch !== 'auto') return prefetch;
    // A tenth of the lease at the most: what waits here must never lapse here.
    return Math.min(MOST_AHEAD, this.largestClaim, this.#begunWithin(Math.min(AHEAD_MS, leaseMs / 10)));
  }

  /**
   * Whoever may have begun when its process dies has used up an attempt. That is a fair price for a round trip less only
   * where attempts are left: a job that went down twice runs alone, and is not taken along a third time.
   */
  get startedAhead(): number {
    if (this.isStrict) return this.atOnce;
    return Math.max(this.atOnce, Math.min(MOST_STARTED_AHEAD, this.#begunWithin(START_AHEAD_MS)));
  }

  /** Jobs that have no attempt to spare: then only the claim whose turn it is may have jobs begin ahead of time. */
  get isStrict(): boolean {
    return this.options.retry.attempts <= 2;
  }

  #begunWithin(ms: number): number {
    return this.#averageMs === undefined ? 0 : Math.floor((this.atOnce * ms) / Math.max(this.#averageMs, 0.5));
  }
}
