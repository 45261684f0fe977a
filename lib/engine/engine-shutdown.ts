import type { DataSource } from 'typeorm';
import type { SqlQueueRunner } from '../worker/sql-queue-runner.js';
import { closeDataSource } from '../store/close-data-source.js';
import type { NotificationChannel } from '../store/notifications/notification-channel.js';
import type { JobStore } from '../store/jobs/job-store.js';
import type { Clock } from '../common/clock.js';
import { withTimeout } from '../common/with-timeout.js';
import type { EventFeed } from '../listen/event-feed.js';

// The worker and the event listeners have this time to stop after the shutdown timeout.
const STOP_TIMEOUT_MS = 1_750;
// Other processes that miss the final notifications find the changes with their next poll.
const FINAL_NOTIFICATIONS_TIMEOUT_MS = 400;

export interface EngineShutdownParts {
  readonly runner: Pick<SqlQueueRunner, 'stop'>;
  readonly feed: Pick<EventFeed, 'stop'>;
  readonly waiting: { close(): Promise<void> };
  readonly notificationChannels: readonly NotificationChannel[];
  readonly store: Pick<JobStore, 'close'>;
  /** The DataSource, if the engine connected it. */
  readonly ownDataSource: DataSource | undefined;
  readonly shutdownTimeoutMs: number;
  readonly clock: Clock;
}

/** Stops an engine in two phases. A database that does not answer delays neither phase for long. */
export class EngineShutdown {
  constructor(private readonly parts: EngineShutdownParts) {}

  /** Stops the worker and the event feed. Takes at most the shutdown timeout plus two seconds. */
  async stop(): Promise<void> {
    const { runner, feed, shutdownTimeoutMs, clock } = this.parts;
    const endsAt = clock.monotonic() + shutdownTimeoutMs + STOP_TIMEOUT_MS;
    await runner.stop();
    await feed.stop(endsAt - clock.monotonic());
  }

  /** Closes the connections of the engine within a second. Nothing keeps the process alive afterwards. */
  async close(): Promise<void> {
    const { store, ownDataSource, clock } = this.parts;
    await withTimeout(clock, FINAL_NOTIFICATIONS_TIMEOUT_MS, this.#sendFinalNotifications());
    // Closing the store rejects every call that still waits for the database.
    await store.close();
    if (ownDataSource?.isInitialized) await closeDataSource(ownDataSource, clock);
  }

  async #sendFinalNotifications(): Promise<void> {
    const { waiting, feed, notificationChannels } = this.parts;
    await waiting.close();
    await feed.stop();
    await Promise.all(notificationChannels.map((channel) => channel.close()));
  }
}
