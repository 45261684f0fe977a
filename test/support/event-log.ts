import { QUEUE_EVENTS, type QueueEvent, type QueueEventName } from '../../lib/job/queue-event.js';
import type { QueueEvents } from '../../lib/listen/queue-events.js';

type EventFilter = Partial<QueueEvent>;

// Calls of the test itself, and events that lead to a run.
const NOT_LISTENED_BY_DEFAULT: readonly QueueEventName[] = ['enqueued', 'promoted', 'claimed', 'retried', 'removed'];
const DEFAULT_EVENTS = QUEUE_EVENTS.filter((each) => !NOT_LISTENED_BY_DEFAULT.includes(each));

/** The events of jobs so far. A test can wait for further ones. */
export class EventLog {
  readonly all: QueueEvent[] = [];
  readonly #listened = new Set<QueueEventName>();
  #waiting: (() => void)[] = [];

  listenTo(events: QueueEvents, names = DEFAULT_EVENTS): void {
    for (const name of names) {
      this.#listened.add(name);
      events.on(name, undefined, (event) => this.add(event));
    }
  }

  add(event: QueueEvent): void {
    this.all.push(event);
    this.#waiting.splice(0).forEach((wake) => wake());
  }

  of(event: QueueEventName, where: EventFilter = {}): QueueEvent[] {
    if (this.#listened.size > 0 && !this.#listened.has(event))
      throw new Error(`This log does not listen to "${event}". Call listenTo(events, ['${event}']) first.`);
    return this.all.filter((one) => one.event === event && matches(one, where));
  }

  jobs(event: QueueEventName): number[] {
    return this.of(event).map(({ jobId }) => jobId);
  }

  /** Resolves with the first such event, or at once if it is in the log already. */
  async until(event: QueueEventName, where: EventFilter = {}): Promise<QueueEvent> {
    return (await this.untilCount(1, event, where))[0]!;
  }

  async untilCount(count: number, event: QueueEventName, where: EventFilter = {}): Promise<QueueEvent[]> {
    for (;;) {
      const found = this.of(event, where);
      if (found.length >= count) return found;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }
}

function matches(event: QueueEvent, where: EventFilter): boolean {
  return Object.entries(where).every(([key, value]) => event[key as keyof QueueEvent] === value);
}
