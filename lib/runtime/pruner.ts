import type { JobStore } from '../store/job-store.js';
import type { Clock } from '../time/clock.js';
import type { JobLogger } from './job-logger.js';
import { PollLoop } from './poll-loop.js';

const BATCH = 500;
const BETWEEN_BATCHES_MS = 100;
const BETWEEN_LOOKS_MS = 60_000;

/** Deletes finished jobs past their retention, a batch at a time with pauses, so that nobody waits for it. */
export class Pruner {
  readonly #loop: PollLoop;
  #first = true;

  constructor(
    private readonly store: JobStore,
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
    const pruned = await this.store.prune(BATCH);
    return pruned === BATCH ? BETWEEN_BATCHES_MS : BETWEEN_LOOKS_MS * (0.5 + this.random());
  }

  #failed(error: unknown): number {
    this.logger.warn(`Cannot prune the history: ${(error as Error).message}`);
    return BETWEEN_LOOKS_MS;
  }
}
