import { QUEUE_EVENTS, type QueueEvent, type QueueEventName } from '../../lib/job/queue-event.js';
import type { QueueEvents } from '../../lib/runtime/queue-events.js';

type Where = Partial<QueueEvent>;

// What a test does itself, and what leads to a run.
const UNHEARD: readonly QueueEventName[] = ['enqueued', 'promoted', 'claimed', 'retried', 'removed'];

/** What happened to jobs, and what is still to happen. */
export class EventLog {
  readonly all: QueueEvent[] = [];
  #waiting: (() => void)[] = [];

  listenTo(events: QueueEvents, names = QUEUE_EVENTS.filter((each) => !UNHEARD.includes(each))): void {
    for (const name of names) events.on(name, undefined, (event) => this.add(event));
  }

  add(event: QueueEvent): void {
    this.all.push(event);
    this.#waiting.splice(0).forEach((look) => look());
  }

  of(event: QueueEventName, where: Where = {}): QueueEvent[] {
    return this.all.filter((seen) => seen.event === event && matches(seen, where));
  }

  jobs(event: QueueEventName): number[] {
    return this.of(event).map(({ jobId }) => jobId);
  }

  /** Resolves with the first such event, also where it has happened already. */
  async until(event: QueueEventName, where: Where = {}): Promise<QueueEvent> {
    return (await this.untilCount(1, event, where))[0]!;
  }

  async untilCount(count: number, event: QueueEventName, where: Where = {}): Promise<QueueEvent[]> {
    for (;;) {
      const seen = this.of(event, where);
      if (seen.length >= count) return seen;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }
}

function matches(event: QueueEvent, where: Where): boolean {
  return Object.entries(where).every(([key, value]) => event[key as keyof QueueEvent] === value);
}
