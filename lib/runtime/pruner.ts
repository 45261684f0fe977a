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
  /** When those are asked again that have failed: what is in trouble keeps nothing else waiting. */
  readonly #failedUntil = new Map<Pruning, number>();
  #first = true;

  constructor(
    private readonly prunings: readonly Pruning[],
    private readonly clock: Clock,
    private readonly logger: JobLogger,
    private readonly random: () => number,
  ) {
    this.#loop = new PollLoop(
      () => this.#tick(),
      clock,
      () => BETWEEN_LOOKS_MS,
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
    for (const prune of this.prunings) isMore = (await this.#ask(prune)) >= BATCH || isMore;
    return isMore ? BETWEEN_BATCHES_MS : BETWEEN_LOOKS_MS * (0.5 + this.random());
  }

  async #ask(prune: Pruning): Promise<number> {
    const nowMs = this.clock.monotonic();
    if (nowMs < (this.#failedUntil.get(prune) ?? nowMs)) return 0;
    try {
      return await prune(BATCH);
    } catch (error) {
      this.#failedUntil.set(prune, nowMs + BETWEEN_LOOKS_MS);
      this.logger.warn(`Cannot prune: ${(error as Error).message}`);
      return 0;
    }
  }
}
