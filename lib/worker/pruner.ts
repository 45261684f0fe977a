import type { Clock } from '../common/clock.js';
import { logText, type JobLogger } from '../common/logger.js';
import { messageOf } from '../common/message-text.js';
import { pageSize } from '../common/lists.js';
import { PollLoop } from '../common/poll-loop.js';

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

  constructor(
    private readonly tasks: readonly PruneTask[],
    private readonly clock: Clock,
    private readonly random: () => number,
    private readonly logger: JobLogger,
  ) {
    this.#loop = new PollLoop(
      () => this.#tick(),
      clock,
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
      return this.random() * PRUNE_INTERVAL_MS;
    }
    let hasMore = false;
    const limit = pageSize(PRUNE_BATCH_SIZE);
    for (const prune of this.tasks) hasMore = (await this.#runTask(prune, limit)) >= limit || hasMore;
    return hasMore ? BATCH_INTERVAL_MS : PRUNE_INTERVAL_MS * (0.5 + this.random());
  }

  async #runTask(prune: PruneTask, limit: number): Promise<number> {
    const nowMs = this.clock.monotonic();
    if (nowMs < (this.#retryAt.get(prune) ?? nowMs)) return 0;
    try {
      return await prune(limit);
    } catch (error) {
      this.#retryAt.set(prune, nowMs + PRUNE_INTERVAL_MS);
      this.logger.warn(`Cannot prune: ${logText(messageOf(error))}`);
      return 0;
    }
  }
}
