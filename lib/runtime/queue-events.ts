import type { QueueEvent, QueueEventName } from '../job/queue-event.js';
import { storedError } from '../job/stored-error.js';
import type { JobLogger } from './job-logger.js';

export type QueueEventListener = (event: QueueEvent) => unknown;

/** Tells listeners in this process. They are told after the database was, and cannot disturb the work. */
export class QueueEvents {
  readonly #listeners = new Map<QueueEventName, { queue: string | undefined; listener: QueueEventListener }[]>();
  readonly #telling = new Set<Promise<void>>();

  constructor(private readonly logger: JobLogger) {}

  /** @param queue hears only of that queue; of all where undefined */
  on(event: QueueEventName, queue: string | undefined, listener: QueueEventListener): void {
    const listeners = this.#listeners.get(event);
    if (listeners) listeners.push({ queue, listener });
    else this.#listeners.set(event, [{ queue, listener }]);
  }

  /** Whether anybody listens, so that events nobody hears are not made. */
  isHeard(event: QueueEventName): boolean {
    return this.#listeners.has(event);
  }

  get hasListeners(): boolean {
    return this.#listeners.size > 0;
  }

  emit(event: QueueEvent): void {
    for (const { queue, listener } of this.#listeners.get(event.event) ?? []) {
      if (queue !== undefined && queue !== event.queue) continue;
      const telling = this.#tell(listener, event).finally(() => this.#telling.delete(telling));
      this.#telling.add(telling);
    }
  }

  /** Resolves when every listener that was told is done with it. */
  async heard(): Promise<void> {
    while (this.#telling.size > 0) await Promise.all(this.#telling);
  }

  async #tell(listener: QueueEventListener, event: QueueEvent): Promise<void> {
    try {
      await listener(event);
    } catch (error) {
      const { name, message, stack } = storedError(error);
      this.logger.error(`A listener for "${event.event}" threw: ${name}: ${message}`, stack);
    }
  }
}
