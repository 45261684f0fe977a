import type { Clock } from '../common/clock.js';
import type { JobLogger } from '../common/job-logger.js';
import { OutageLog } from '../common/outage-log.js';
import { PollLoop } from '../common/poll-loop.js';
import { withTimeout } from '../common/with-timeout.js';
import type { QueueEvents } from '../events/queue-events.js';
import type { NotificationChannel } from '../store/notifications/notification-channel.js';
import type { EventStore, RecordedEvent } from '../store/results/event-store.js';
import { MissingIds } from './missing-ids.js';
import { WaitListener } from './listen-loop.js';

export interface EventFeedParts {
  readonly store: Pick<EventStore, 'lastId' | 'readAfter' | 'readByIds'>;
  /** Undefined if this process receives no notifications: the feed polls every second. */
  readonly channel: NotificationChannel | undefined;
  readonly clock: Clock;
  readonly logger: JobLogger;
  readonly listeners: QueueEvents;
}

const POLL_INTERVAL_MS = 1_000;
const RETRY_INTERVAL_MS = 1_000;
// After a notification the feed does not listen for this time: one poll then reads all events of the time.
const NOTIFICATION_GAP_MS = 50;
const PAGE_SIZE = 500;
const STOP_TIMEOUT_MS = 5_000;

/** The name that processes notify when they have stored events. */
const LISTEN_NAME = 'events';

/**
 * Reads the stored job events of all processes and emits them to the listeners of this one. It emits each event once,
 * from the start of the feed on, in the order of their ids. Events of a long transaction come late, after newer events.
 */
export class EventFeed {
  readonly #missingIds = new MissingIds();
  readonly #loop: PollLoop;
  readonly #listener: WaitListener | undefined;
  readonly #outage: OutageLog;
  /** Undefined while the feed has found no event in the database. */
  #lastId: number | undefined;
  #isStarted = false;
  #isStopped = false;

  constructor(private readonly parts: EventFeedParts) {
    const { channel, clock, logger } = parts;
    this.#outage = new OutageLog(logger, 'Cannot read job events, retrying', 'The database is available again.');
    this.#loop = new PollLoop((stopping) => this.#tick(stopping), clock, this.#outage.retryAfter(RETRY_INTERVAL_MS));
    this.#listener =
      channel &&
      new WaitListener({
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
    this.#lastId = await this.parts.store.lastId();
    this.#loop.start();
    this.#listener?.listen();
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
    const stopped = Promise.all([this.#loop.stop(), this.#listener?.stop()]);
    const handled = stopped.then(() => this.parts.listeners.idle());
    await withTimeout(this.parts.clock, Math.min(ms, STOP_TIMEOUT_MS), handled);
  }

  async #tick(stopping: AbortSignal): Promise<number> {
    const { store, clock } = this.parts;
    const late = await store.readByIds(this.#missingIds.due(clock.monotonic()));
    const page = await store.readAfter(this.#lastId ?? 0, PAGE_SIZE);
    this.#outage.onSuccess();
    if (stopping.aborted) return 0;
    for (const event of late) {
      this.#missingIds.remove(event.id);
      this.#emit(event);
    }
    for (const event of page) {
      if (this.#lastId !== undefined) this.#missingIds.addGap(this.#lastId, event.id, clock.monotonic());
      this.#lastId = event.id;
      this.#emit(event);
    }
    return page.length === PAGE_SIZE ? 0 : POLL_INTERVAL_MS;
  }

  #emit({ event, queue, jobId, name, attempt, owner, ranMs, delayMs, result, error, atMs }: RecordedEvent): void {
    this.parts.listeners.emit({
      event,
      queue,
      jobId,
      name,
      attempt,
      owner,
      ranMs,
      at: new Date(atMs),
      ...(event === 'completed' ? { result } : {}),
      ...(error === null ? {} : { error }),
      ...(delayMs === null ? {} : { delayMs }),
    });
  }
}
