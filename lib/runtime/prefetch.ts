import type { ResolvedQueueOptions } from '../job/queue-options.js';

// Jobs claimed ahead shall begin within this time, so that a short queue is shared out between workers.
const AHEAD_MS = 100;
const MOST_AHEAD = 200;
// How much of the average a new run time makes up.
const WEIGHT = 0.1;

/** How many jobs to claim ahead of free slots: many where they are short, none where they are long. */
export class Prefetch {
  #averageMs: number | undefined;

  constructor(private readonly options: Pick<ResolvedQueueOptions, 'prefetch' | 'concurrency' | 'leaseMs'>) {}

  note(ranMs: number): void {
    this.#averageMs = this.#averageMs === undefined ? ranMs : this.#averageMs + WEIGHT * (ranMs - this.#averageMs);
  }

  get size(): number {
    const { prefetch, concurrency, leaseMs } = this.options;
    if (prefetch !== 'auto') return prefetch;
    if (this.#averageMs === undefined) return 0;
    // A tenth of the lease at the most: what waits here must never lapse here.
    const aheadMs = Math.min(AHEAD_MS, leaseMs / 10);
    return Math.min(MOST_AHEAD, Math.floor((concurrency * aheadMs) / Math.max(this.#averageMs, 0.5)));
  }
}
