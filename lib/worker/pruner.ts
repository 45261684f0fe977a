import { pageSize } from '../common/page-size.js';
import { logText } from '../common/log-text.js';
import { PollLoop } from '../common/poll-loop.js';
import type { WorkerParts } from './worker-parts.js';

const PRUNE_BATCH_SIZE = 500;
const BATCH_INTERVAL_MS = 100;
const PRUNE_INTERVAL_MS = 60_000;

/** Deletes at most `limit` rows. Returns how many it deleted. */
export type PruneTask = (limit: number) => Promise<number>;

/**
 * Deletes rows that have expired: finished jobs after their retention, rows of deleted jobs, and unused keys and
 * temporary queues. It deletes in small batches with pauses, so that other statements do not wait for its locks.
 */
export class Pruner {
  readonly #loop: PollLoop;
  /** The time of the next try of each failed task. The other tasks go on meanwhile. */
  readonly #retryAt = new Map<PruneTask, number>();
  #isFirstTick = true;

  constructor(private readonly parts: WorkerParts) {
    this.#loop = new PollLoop(
      () => this.#tick(),
      parts.clock,
      () => PRUNE_INTERVAL_MS,
    );
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async #tick(): Promise<number> {
    // Processes that start together must not prune together.
    if (this.#isFirstTick) {
      this.#isFirstTick = false;
      return this.parts.random() * PRUNE_INTERVAL_MS;
    }
    let hasMore = false;
    const limit = pageSize(PRUNE_BATCH_SIZE);
    for (const prune of this.parts.pruneTasks) hasMore = (await this.#runTask(prune, limit)) >= limit || hasMore;
    return hasMore ? BATCH_INTERVAL_MS : PRUNE_INTERVAL_MS * (0.5 + this.parts.random());
  }

  async #runTask(prune: PruneTask, limit: number): Promise<number> {
    const nowMs = this.parts.clock.monotonic();
    if (nowMs < (this.#retryAt.get(prune) ?? nowMs)) return 0;
    try {
      return await prune(limit);
    } catch (error) {
      this.#retryAt.set(prune, nowMs + PRUNE_INTERVAL_MS);
      this.parts.logger.warn(`Cannot prune: ${logText((error as Error).message)}`);
      return 0;
    }
  }
}
