import type { JobStore } from '../store/job-store.js';
import type { QueueStore } from '../store/queue-store.js';
import type { Clock } from '../time/clock.js';
import type { JobLogger } from './job-logger.js';
import { PollLoop } from './poll-loop.js';

const BATCH = 500;
const BETWEEN_BATCHES_MS = 100;
const BETWEEN_LOOKS_MS = 60_000;

/**
 * Deletes what has had its time, a batch at a time with pauses, so that nobody waits for it: finished jobs past their
 * retention, what is left of jobs that are gone, and temporary queues that nobody uses.
 */
export class Pruner {
  readonly #loop: PollLoop;
  #first = true;

  constructor(
    private readonly store: Pick<JobStore, 'prune' | 'sweep'>,
    private readonly queueStore: Pick<QueueStore, 'expire'>,
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
    const swept = await this.store.sweep(BATCH);
    if (pruned === BATCH || swept === BATCH) return BETWEEN_BATCHES_MS;
    await this.queueStore.expire();
    return BETWEEN_LOOKS_MS * (0.5 + this.random());
  }

  #failed(error: unknown): number {
    this.logger.warn(`Cannot prune: ${(error as Error).message}`);
    return BETWEEN_LOOKS_MS;
  }
}
