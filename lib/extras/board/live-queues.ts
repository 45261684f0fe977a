import { statisticsOf, type BoardQueue, type ReadableQueue } from './board-queues.js';

/** The statistics of one read, for all viewers. Viewers with equal rights get one buffer: it can have megabytes. */
export class LiveQueues {
  readonly #events = new Map<string, Buffer>();

  /** @param refreshMs the time until the next statistics, so that a page sees that they do not come */
  constructor(
    readonly queues: readonly BoardQueue[],
    private readonly refreshMs: number,
  ) {}

  /** The event for a viewer that may read these queues. */
  readonly eventOf = (readable: readonly ReadableQueue[]): Buffer => {
    const rights = JSON.stringify(readable.map(({ queue, verbs }) => [queue, verbs]));
    let event = this.#events.get(rights);
    if (event) return event;
    event = Buffer.from(eventText('queues', { ...statisticsOf(readable, this.queues), refreshMs: this.refreshMs }));
    this.#events.set(rights, event);
    return event;
  };
}

/** A server-sent event. */
export function eventText(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
