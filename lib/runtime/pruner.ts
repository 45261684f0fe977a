import type { Clock } from '../time/clock.js';
import type { JobLogger } from './job-logger.js';
import { PollLoop } from './poll-loop.js';

const BATCH = 500;
const BETWEEN_BATCHES_MS = 100;
const BETWEEN_LOOKS_MS = 60_000;

/** Deletes at most `limit` of something; answers how many. */
export type Pruning = (limit: number) => Promise<number>;

/**
 * Deletes what has had its time, a batch at a time with pauses, so that nobody waits for it: finished jobs past their
 * retention, what is left of jobs that are gone, and keys and temporary queues that nobody uses.
 */
export class Pruner {
  readonly #loop: PollLoop;
  #first = true;

  constructor(
    private readonly prunings: readonly Pruning[],
    clock: Clock,
    private readonly logger: JobLogger,
    private readonly random: () => number,
  ) {
    this.#loop = new PollLoop(
      () => this.#tick(),
      clock,
      (error) => this.#failed(error),
    );
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async #tick(): Promise<number> {
    // Processes that start together do not all prune together.
    if (this.#first) {
      this.#first = false;
      return this.random() * BETWEEN_LOOKS_MS;
    }
    let isMore = false;
    for (const prune of this.prunings) isMore = (await prune(BATCH)) >= BATCH || isMore;
    return isMore ? BETWEEN_BATCHES_MS : BETWEEN_LOOKS_MS * (0.5 + this.random());
  }

  #failed(error: unknown): number {
    this.logger.warn(`Cannot prune: ${(error as Error).message}`);
    return BETWEEN_LOOKS_MS;
  }
}
