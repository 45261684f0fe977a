import type { BoardQueue, ReadableQueue } from './board-queues.js';

/** The statistics of one read, for all viewers. Viewers with equal rights get one buffer: it can have megabytes. */
export class LiveQueues {
  readonly #events = new Map<string, Buffer>();

  constructor(readonly queues: readonly BoardQueue[]) {}

  /** The event for a viewer that may read these queues. */
  readonly eventOf = (readable: readonly ReadableQueue[]): Buffer => {
    const rights = JSON.stringify(readable.map(({ queue, verbs }) => [queue, verbs]));
    let event = this.#events.get(rights);
    if (!event) this.#events.set(rights, (event = Buffer.from(eventText('queues', { queues: readable }))));
    return event;
  };
}

/** A server-sent event. */
export function eventText(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
