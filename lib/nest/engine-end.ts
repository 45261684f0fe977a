import type { DataSource } from 'typeorm';
import type { SqlQueueRunner } from '../runtime/sql-queue-runner.js';
import { closeDataSource } from '../store/close-data-source.js';
import type { Doorbell } from '../store/doorbell.js';
import type { JobStore } from '../store/job-store.js';
import type { Clock } from '../time/clock.js';
import { within } from '../time/within.js';
import type { EventFeed } from '../waiting/event-feed.js';

// After the shutdown timeout, for the worker and the listeners to events.
const LONGEST_STOP_MS = 1_750;
// For notifying others that this process has stopped. They find out by themselves otherwise.
const LONGEST_FAREWELL_MS = 400;

export interface EngineEndParts {
  readonly runner: Pick<SqlQueueRunner, 'stop'>;
  readonly feed: Pick<EventFeed, 'stop'>;
  readonly waiting: { close(): Promise<void> };
  readonly bells: readonly Doorbell[];
  readonly store: Pick<JobStore, 'close'>;
  /** The DataSource, if the library has connected it. */
  readonly own: DataSource | undefined;
  readonly shutdownTimeoutMs: number;
  readonly clock: Clock;
}

/** The two phases in which an engine ends. A database that does not answer delays neither for long. */
export class EngineEnd {
  constructor(private readonly parts: EngineEndParts) {}

  /** Ends the work. Takes no longer than the shutdown timeout and two seconds. */
  async stop(): Promise<void> {
    const { runner, feed, shutdownTimeoutMs, clock } = this.parts;
    const endsAt = clock.monotonic() + shutdownTimeoutMs + LONGEST_STOP_MS;
    await runner.stop();
    await feed.stop(endsAt - clock.monotonic());
  }

  /** Lets go of the database. Takes no longer than a second, and leaves nothing that keeps the process alive. */
  async close(): Promise<void> {
    const { store, own, clock } = this.parts;
    await within(clock, LONGEST_FAREWELL_MS, this.#farewell());
    // Ends all that still waits for an answer of the database.
    await store.close();
    if (own?.isInitialized) await closeDataSource(own, clock);
  }

  async #farewell(): Promise<void> {
    const { waiting, feed, bells } = this.parts;
    await waiting.close();
    await feed.stop();
    await Promise.all(bells.map((bell) => bell.close()));
  }
}
