import type { DataSource } from 'typeorm';
import { withTimeout } from '../common/abort.js';
import { closeDataSource } from '../store/close-data-source.js';
import type { SqlQueueRunner } from '../worker/sql-queue-runner.js';
import type { EngineBase } from './subsystems.js';

// The worker and the event listeners have this time to stop after the shutdown timeout.
const STOP_TIMEOUT_MS = 4_750;
// A database that answers needs some milliseconds. One that hangs must not delay the shutdown for long.
const LAST_SAVES_TIMEOUT_MS = 1_000;
// Other processes that miss the final notifications find the changes with their next poll.
const FINAL_NOTIFICATIONS_TIMEOUT_MS = 400;

/** Stops an engine in two phases. A database that does not answer delays neither phase for long. */
export class EngineShutdown {
  /** @param ownDataSource the DataSource, if the engine connected it */
  constructor(
    private readonly base: EngineBase,
    private readonly runner: SqlQueueRunner,
    private readonly ownDataSource: DataSource | undefined,
  ) {}

  /**
   * Rejects all waits for results, stops the worker and the event feed, and saves metrics. Takes at most the shutdown timeout
   * plus five seconds.
   */
  async stop(): Promise<void> {
    const { core, events, waits, settler, recorder, unserved } = this.base;
    void unserved.stop();
    // A handler or an HTTP request that waits for a job of this process would never end, and nor would the shutdown.
    waits.waiter.rejectAll();
    const endsAt = core.clock.monotonic() + core.workerOptions.shutdownTimeoutMs + STOP_TIMEOUT_MS;
    await this.runner.stop();
    await events.feed.stop(endsAt - core.clock.monotonic());
    // Saves the metrics of the attempts that have ended, and settles their flows. `close()` does so for later attempts.
    const saved = Promise.all([settler.stop(), recorder.stop()]);
    await withTimeout(core.clock, Math.min(LAST_SAVES_TIMEOUT_MS, endsAt - core.clock.monotonic()), saved);
  }

  /** Closes the connections of the engine within a second. Nothing keeps the process alive afterwards. */
  async close(): Promise<void> {
    const { core, stores } = this.base;
    await withTimeout(core.clock, FINAL_NOTIFICATIONS_TIMEOUT_MS, this.#sendFinalNotifications());
    // Closing the store rejects every call that still waits for the database.
    await stores.jobs.close();
    if (this.ownDataSource?.isInitialized) await closeDataSource(this.ownDataSource, core.clock);
  }

  async #sendFinalNotifications(): Promise<void> {
    const { stores, events, waits, settler, recorder, unserved } = this.base;
    await unserved.stop();
    await settler.stop();
    await recorder.stop();
    await waits.close();
    await events.feed.stop();
    await Promise.all([stores.eventChannel?.close(), stores.workerChannel?.close()]);
  }
}
