import type { QueueAdmin } from '../../admin/queue-admin.js';
import type { Clock } from '../../common/clock.js';
import { OutageLog, type JobLogger } from '../../common/logger.js';
import { PollLoop } from '../../common/poll-loop.js';
import { nextTurn } from '../../common/turn.js';
import { readQueues } from './board-queues.js';
import { LiveQueues } from './live-queues.js';

/** An open page. Its methods never throw. */
export interface Viewer {
  onQueues(queues: LiveQueues): void;
  /** The database is away. */
  onOutage(): void;
  close(): void;
}

/** Reads the statistics for all open pages of this process. Nothing runs while no page is open. */
export class LiveStats {
  readonly #viewers = new Set<Viewer>();
  readonly #outage: OutageLog;
  #loop: PollLoop | undefined;
  #stopped: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(
    private readonly admin: Pick<QueueAdmin, 'queues' | 'stats'>,
    private readonly clock: Clock,
    private readonly refreshMs: number,
    logger: JobLogger,
  ) {
    this.#outage = new OutageLog(logger, 'Cannot read the statistics for the board', 'The board has statistics again.');
  }

  add(viewer: Viewer): void {
    if (this.#isClosed) {
      viewer.close();
      return;
    }
    this.#viewers.add(viewer);
    if (this.#loop) {
      // The new page gets its first statistics at once.
      this.#loop.wake();
      return;
    }
    this.#loop = new PollLoop(
      () => this.#tick(),
      this.clock,
      (error) => this.#onFailure(error),
    );
    this.#loop.start();
  }

  remove(viewer: Viewer): void {
    this.#viewers.delete(viewer);
    if (this.#viewers.size === 0) this.#stopLoop();
  }

  /** Ends the streams of all pages, because the HTTP server waits for them. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const viewer of this.#viewers) viewer.close();
    this.#viewers.clear();
    this.#stopLoop();
    await this.#stopped;
  }

  #stopLoop(): void {
    if (this.#loop) this.#stopped = Promise.all([this.#stopped, this.#loop.stop()]);
    this.#loop = undefined;
  }

  async #tick(): Promise<number> {
    const queues = new LiveQueues(await readQueues(this.admin), this.refreshMs);
    this.#outage.onSuccess();
    for (const viewer of this.#viewers) {
      viewer.onQueues(queues);
      // The rights of a viewer to thousands of queues take milliseconds.
      await nextTurn();
    }
    return this.refreshMs;
  }

  #onFailure(error: unknown): number {
    this.#outage.onFailure(error);
    for (const viewer of this.#viewers) viewer.onOutage();
    return this.refreshMs;
  }
}
