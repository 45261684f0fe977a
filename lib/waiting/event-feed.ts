import type { QueueEvent } from '../job/queue-event.js';
import type { JobLogger } from '../runtime/job-logger.js';
import { PollLoop } from '../runtime/poll-loop.js';
import type { QueueEvents } from '../runtime/queue-events.js';
import type { Doorbell } from '../store/doorbell.js';
import type { EventStore, RecordedEvent } from '../store/event-store.js';
import type { Clock } from '../time/clock.js';
import { within } from '../time/within.js';
import { Ear } from './ear.js';
import { MissingIds } from './missing-ids.js';

export interface EventFeedParts {
  readonly store: Pick<EventStore, 'last' | 'after' | 'among'>;
  /** Undefined where this process cannot be woken: it looks by itself, every second. */
  readonly bell: Doorbell | undefined;
  readonly clock: Clock;
  readonly logger: JobLogger;
  /** Who is told. */
  readonly listeners: QueueEvents;
}

const LOOK_EVERY_MS = 1_000;
const RETRY_MS = 1_000;
// However fast things happen, one look tells of all that did in the meantime.
const GAP_MS = 50;
const PAGE = 500;
const LONGEST_STOP_MS = 5_000;

/** Where it is rung. */
const NAME = 'events';

/**
 * Hears what becomes of jobs in all processes, from what they record: from the time on at which it starts, each event once, in the
 * order in which they were written, but for those whose transactions took longer than others that began later.
 */
export class EventFeed {
  readonly #missing = new MissingIds();
  readonly #loop: PollLoop;
  readonly #ear: Ear | undefined;
  /** Undefined while none was ever seen. */
  #last: number | undefined;
  #started = false;
  #stopped = false;
  #unreachable = false;

  constructor(private readonly parts: EventFeedParts) {
    const { bell, clock, logger } = parts;
    this.#loop = new PollLoop(
      (stopping) => this.#tick(stopping),
      clock,
      (error) => this.#failed(error),
    );
    const isWanted = () => !this.#stopped;
    const hear = () => this.look();
    this.#ear = bell && new Ear({ bell, clock, logger, name: NAME, isWanted, gap: () => GAP_MS, hear });
  }

  /** Tells of what is recorded from now on. Rejects with a StoreUnavailableError where the database is away. */
  async start(): Promise<void> {
    if (this.#started) return;
    this.#started = true;
    this.#last = await this.parts.store.last();
    this.#loop.start();
    this.#ear?.listen();
  }

  /** There is something to hear. */
  look(): void {
    if (this.#started) this.#loop.wake();
  }

  /** Resolves when the listeners have handled all events, or after `ms`: a listener or the database may hang. */
  async stop(ms = LONGEST_STOP_MS): Promise<void> {
    this.#stopped = true;
    const stopped = Promise.all([this.#loop.stop(), this.#ear?.stop()]);
    await within(
      this.parts.clock,
      Math.min(ms, LONGEST_STOP_MS),
      stopped.then(() => this.parts.listeners.heard()),
    );
  }

  async #tick(stopping: AbortSignal): Promise<number> {
    const { store, clock } = this.parts;
    const late = await store.among(this.#missing.due(clock.monotonic()));
    const page = await store.after(this.#last ?? 0, PAGE);
    this.#reached();
    if (stopping.aborted) return 0;
    for (const event of late) {
      this.#missing.found(event.id);
      this.#tell(event);
    }
    for (const event of page) {
      if (this.#last !== undefined) this.#missing.between(this.#last, event.id, clock.monotonic());
      this.#last = event.id;
      this.#tell(event);
    }
    return page.length === PAGE ? 0 : LOOK_EVERY_MS;
  }

  #tell({ event, queue, jobId, name, attempt, owner, ranMs, delayMs, result, error, atMs }: RecordedEvent): void {
    const told: QueueEvent = {
      ...{ event, queue, jobId, name, attempt, owner, ranMs, at: new Date(atMs) },
      ...(event === 'completed' ? { result } : {}),
      ...(error === null ? {} : { error }),
      ...(delayMs === null ? {} : { delayMs }),
    };
    this.parts.listeners.emit(told);
  }

  #reached(): void {
    if (this.#unreachable) this.parts.logger.log('The database answers again.');
    this.#unreachable = false;
  }

  #failed(error: unknown): number {
    // Said once an outage, not once a look.
    if (!this.#unreachable)
      this.parts.logger.warn(`Cannot hear what becomes of jobs, trying on: ${(error as Error).message}`);
    this.#unreachable = true;
    return RETRY_MS;
  }
}
