import { pageSize } from '../common/lists.js';
import type { Clock } from '../common/clock.js';
import { OutageLog, type JobLogger } from '../common/logger.js';
import { PollLoop } from '../common/poll-loop.js';
import { withTimeout } from '../common/abort.js';
import type { QueueEvents } from './queue-events.js';
import type { NotificationChannel } from '../store/notifications/notification-channel.js';
import type { EventStore } from '../store/features/events/event-store.js';
import { ChannelListener } from './listen-loop.js';

const POLL_INTERVAL_MS = 1_000;
const RETRY_INTERVAL_MS = 1_000;
// After a notification the feed does not listen for this time: one poll then reads all events of the time.
const NOTIFICATION_GAP_MS = 50;
const PAGE_SIZE = 500;
const STOP_TIMEOUT_MS = 5_000;

/** The name that processes notify when they have stored events. */
const LISTEN_NAME = 'events';

// The limits of ids for one gap and in all. A larger gap comes from a transaction that was rolled back.
const MAX_GAP = 1_000;
const MAX_MISSING = 10_000;
// Most late transactions commit within milliseconds, but a transaction of a caller may last minutes.
const RECENT_MS = 5_000;
const FULL_CHECK_INTERVAL_MS = 15_000;
const MISSING_TIMEOUT_MS = 600_000;

/**
 * Reads the stored job events of all processes and emits them to the listeners of this one. It emits each event once,
 * from the start of the feed on, in the order of their ids. Events of a long transaction come late, after newer events.
 */
export class EventFeed {
  readonly #missingIds = new MissingIds();
  readonly #loop: PollLoop;
  readonly #listener: ChannelListener;
  readonly #outage: OutageLog;
  #lastId = 0;
  #isStarted = false;
  #isStopped = false;

  /** @param channel undefined if this process receives no notifications: the feed polls every second */
  constructor(
    private readonly store: Pick<EventStore, 'lastIds' | 'readAfter' | 'readByIds'>,
    channel: NotificationChannel | undefined,
    private readonly clock: Clock,
    logger: JobLogger,
    private readonly listeners: QueueEvents,
  ) {
    this.#outage = new OutageLog(logger, 'Cannot read job events, retrying', 'The database is available again.');
    this.#loop = new PollLoop((stopping) => this.#tick(stopping), clock, this.#outage.retryAfter(RETRY_INTERVAL_MS));
    this.#listener = new ChannelListener({
      channel,
      clock,
      logger,
      name: LISTEN_NAME,
      isNeeded: () => !this.#isStopped,
      gapMs: () => NOTIFICATION_GAP_MS,
      onNotification: () => this.poll(),
    });
  }

  /** Emits the events stored from now on. Rejects with StoreUnavailableError if the database is unavailable. */
  async start(): Promise<void> {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const ids = await this.store.lastIds(MAX_GAP);
    this.#lastId = ids.at(-1) ?? 0;
    // Their transactions may commit from now on.
    this.#missingIds.addGapsAmong(ids, this.clock.monotonic());
    this.#loop.start();
    this.#listener.listen();
  }

  poll(): void {
    if (this.#isStarted) this.#loop.wake();
  }

  /**
   * Resolves when the listeners have handled all events, or after `ms`, because a listener or the database may not
   * answer. The longest wait is 5 s.
   */
  async stop(ms = STOP_TIMEOUT_MS): Promise<void> {
    this.#isStopped = true;
    const stopped = Promise.all([this.#loop.stop(), this.#listener.stop()]);
    const handled = stopped.then(() => this.listeners.idle());
    await withTimeout(this.clock, Math.min(ms, STOP_TIMEOUT_MS), handled);
  }

  async #tick(stopping: AbortSignal): Promise<number> {
    const { store, clock } = this;
    const late = await store.readByIds(this.#missingIds.due(clock.monotonic()));
    const limit = pageSize(PAGE_SIZE);
    const page = await store.readAfter(this.#lastId, limit);
    this.#outage.onSuccess();
    if (stopping.aborted) return 0;
    for (const { id, event } of late) {
      this.#missingIds.remove(id);
      this.listeners.deliver(event);
    }
    for (const { id, event } of page) {
      this.#missingIds.addGap(this.#lastId, id, clock.monotonic());
      this.#lastId = id;
      this.listeners.deliver(event);
    }
    return page.length === limit ? 0 : POLL_INTERVAL_MS;
  }
}

/**
 * Ids that are missing between the ids that were read: their transactions commit later, or were rolled back. Ids that
 * are missing for less than 5 s are read with every poll, the others every 15 s, for 10 minutes.
 */
export class MissingIds {
  /** Oldest first. */
  readonly #missingSince = new Map<number, number>();
  #lastFullCheckAt = -Infinity;

  /** @param ids ascending; only gaps near the last one count */
  addGapsAmong(ids: readonly number[], now: number): void {
    let previous = Math.max(0, (ids.at(-1) ?? 0) - MAX_GAP);
    for (const id of ids) {
      if (id > previous) this.addGap(previous, id, now);
      previous = Math.max(previous, id);
    }
  }

  addGap(id: number, next: number, now: number): void {
    for (let missing = Math.max(id + 1, next - MAX_GAP); missing < next; missing++)
      this.#missingSince.set(missing, now);
    for (const [oldest] of this.#missingSince) {
      if (this.#missingSince.size <= MAX_MISSING) break;
      this.#missingSince.delete(oldest);
    }
  }

  remove(id: number): void {
    this.#missingSince.delete(id);
  }

  due(now: number): number[] {
    for (const [id, since] of this.#missingSince) {
      if (now - since < MISSING_TIMEOUT_MS) break;
      this.#missingSince.delete(id);
    }
    const isFullCheck = now - this.#lastFullCheckAt >= FULL_CHECK_INTERVAL_MS;
    if (isFullCheck) this.#lastFullCheckAt = now;
    return [...this.#missingSince].filter(([, since]) => isFullCheck || now - since < RECENT_MS).map(([id]) => id);
  }
}
