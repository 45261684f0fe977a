import type { Clock } from '../common/clock.js';
import { OutageLog, type JobLogger } from '../common/logger.js';

export interface PollTimes {
  /** When the worker last began or ended a poll, also if that poll failed; null if it has not polled. */
  readonly lastPollAt: Date | null;
  /** Whether a poll is under way now. It may wait for the database. */
  readonly isPolling: boolean;
  /** Since when all polls have failed; null if the last one succeeded, or if no worker runs. */
  readonly databaseDownSince: Date | null;
}

/** When the poller of this process last polled, and since when its polls fail. */
export class PollHealth {
  readonly #outage: OutageLog;
  /** Monotonic times, because the time of day can jump. */
  #lastPollAt: number | undefined;
  #downSince: number | undefined;
  #isPolling = false;

  constructor(
    private readonly clock: Pick<Clock, 'monotonic' | 'now'>,
    logger: JobLogger,
  ) {
    this.#outage = new OutageLog(logger, 'Cannot poll for jobs, retrying', 'The database is available again.');
  }

  async observe<T>(poll: () => Promise<T>): Promise<T> {
    this.#lastPollAt = this.clock.monotonic();
    this.#isPolling = true;
    try {
      return await poll();
    } finally {
      this.#lastPollAt = this.clock.monotonic();
      this.#isPolling = false;
    }
  }

  onAnswer(): void {
    this.#downSince = undefined;
    this.#outage.onSuccess();
  }

  onFailure(error: unknown): void {
    this.#downSince ??= this.clock.monotonic();
    this.#outage.onFailure(error);
  }

  read(): PollTimes {
    const now = this.clock.now().getTime();
    const monotonic = this.clock.monotonic();
    const dateOf = (at: number | undefined) => (at === undefined ? null : new Date(now - (monotonic - at)));
    return {
      lastPollAt: dateOf(this.#lastPollAt),
      isPolling: this.#isPolling,
      databaseDownSince: dateOf(this.#downSince),
    };
  }
}
