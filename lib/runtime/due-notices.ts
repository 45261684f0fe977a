import type { Doorbell } from '../store/doorbell.js';
import type { Clock } from '../time/clock.js';

// The worker that was notified may have stopped meanwhile: then another one is.
const GOOD_FOR_MS = 1_000;
const MOST_QUEUES = 1_000;

/**
 * Notifies a worker of another process of jobs that will be due, so that it does not sleep past that. It then looks for the
 * next due time of all queues, so a job that is due after one it was just notified of needs no notification.
 */
export class DueNotices {
  readonly #last = new Map<string, { readonly dueAt: number; readonly until: number }>();

  constructor(
    private readonly doorbell: Pick<Doorbell, 'ring'>,
    private readonly clock: Clock,
  ) {}

  /** A job of the queue will be due in so many milliseconds. */
  expect(queue: string, ms: number): void {
    const now = this.clock.monotonic();
    const dueAt = now + Math.max(0, ms);
    const last = this.#last.get(queue);
    if (last && last.dueAt <= dueAt && now < last.until) return;
    if (this.#last.size >= MOST_QUEUES) this.#last.clear();
    this.#last.set(queue, { dueAt, until: Math.min(dueAt, now + GOOD_FOR_MS) });
    this.doorbell.ring(queue, 1);
  }
}
