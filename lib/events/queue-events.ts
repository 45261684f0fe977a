import type { QueueEvent, QueueEventName } from '../job/queue-event.js';
import { storedError } from '../job/stored-error.js';
import type { JobLogger } from '../common/job-logger.js';
import { logStack, logText } from '../common/log-text.js';

export type QueueEventListener = (event: QueueEvent) => unknown;

/** Calls the event listeners of this process after the commit. A listener that fails has no effect on jobs. */
export class QueueEvents {
  readonly #listeners = new Map<QueueEventName, { queue: string | undefined; listener: QueueEventListener }[]>();
  readonly #deliveries = new Set<Promise<void>>();

  constructor(private readonly logger: JobLogger) {}

  /** @param queue the only queue whose events the listener receives; undefined: all queues */
  on(event: QueueEventName, queue: string | undefined, listener: QueueEventListener): void {
    const listeners = this.#listeners.get(event);
    if (listeners) listeners.push({ queue, listener });
    else this.#listeners.set(event, [{ queue, listener }]);
  }

  /** Callers need not create events without a listener. */
  hasListener(event: QueueEventName): boolean {
    return this.#listeners.has(event);
  }

  get hasAnyListener(): boolean {
    return this.#listeners.size > 0;
  }

  emit(event: QueueEvent): void {
    for (const { queue, listener } of this.#listeners.get(event.event) ?? []) {
      if (queue !== undefined && queue !== event.queue) continue;
      const delivery = this.#deliver(listener, event).finally(() => this.#deliveries.delete(delivery));
      this.#deliveries.add(delivery);
    }
  }

  async idle(): Promise<void> {
    while (this.#deliveries.size > 0) await Promise.all(this.#deliveries);
  }

  async #deliver(listener: QueueEventListener, event: QueueEvent): Promise<void> {
    try {
      await listener(event);
    } catch (error) {
      const { name, message, stack } = storedError(error);
      const { queue, jobId, name: jobName, attempt } = event;
      const line = `A listener for "${event.event}" threw: ${name}: ${logText(message)}`;
      this.logger.error(line, logStack(stack, message), { queue, jobId, name: jobName, attempt });
    }
  }
}
