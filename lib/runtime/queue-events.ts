import type { StoredError } from '../job/stored-error.js';
import type { JobLogger } from './job-logger.js';

/** What can happen to a job in this process, in the order of a job's life. */
export const QUEUE_EVENTS = [
  'enqueued',
  'started',
  'completed',
  'failed',
  'dead',
  'released',
  'snoozed',
  'cancelled',
  'lost',
  'rescued',
  'retried',
  'removed',
] as const;

export type QueueEventName = (typeof QUEUE_EVENTS)[number];

export interface QueueEvent {
  /**
   * `enqueued` put in by this process, its transaction has committed · `started` a run began · `completed` · `failed` a run
   * threw or timed out (the job is retried, or `dead` follows) · `dead` no further attempt · `released` · `snoozed` ·
   * `cancelled` · `lost` the lease was lost, the run's outcome does not count · `rescued` taken from a worker that fell
   * silent · `retried` and `removed` by QueueAdmin.
   */
  readonly event: QueueEventName;
  readonly queue: string;
  readonly jobId: number;
  readonly name: string;
  readonly attempt: number;
  /** How long the run took, in milliseconds; null where none ended here. */
  readonly ranMs: number | null;
  /** What the handler returned, for `completed`. */
  readonly result?: unknown;
  /** For `failed`, `dead`, `lost` and `rescued`. */
  readonly error?: StoredError;
  /** For `failed`, `snoozed` and `rescued`: when the job may run again; 0 at once. */
  readonly delayMs?: number;
}

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
      this.logger.error(`A listener for "${event.event}" threw: ${String(error)}`, (error as Error)?.stack);
    }
  }
}
