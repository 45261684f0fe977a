import type { NotificationChannel } from '../store/notifications/notification-channel.js';
import type { Clock } from '../common/clock.js';

// A notified worker may stop before the job is due. After this time another one is notified.
const NOTIFICATION_VALID_MS = 1_000;
const MAX_QUEUES = 1_000;

/**
 * Notifies a worker of another process of scheduled jobs, so that it polls when they are due. That worker then reads
 * the next due time of all queues, so a later job of the queue needs no notification of its own.
 */
export class DueNotifier {
  readonly #lastNotifications = new Map<string, { readonly dueAt: number; readonly validUntil: number }>();

  constructor(
    private readonly channel: Pick<NotificationChannel, 'notify'>,
    private readonly clock: Clock,
  ) {}

  notifyDue(queue: string, dueInMs: number): void {
    const now = this.clock.monotonic();
    const dueAt = now + Math.max(0, dueInMs);
    const last = this.#lastNotifications.get(queue);
    if (last && last.dueAt <= dueAt && now < last.validUntil) return;
    if (this.#lastNotifications.size >= MAX_QUEUES) this.#lastNotifications.clear();
    this.#lastNotifications.set(queue, { dueAt, validUntil: Math.min(dueAt, now + NOTIFICATION_VALID_MS) });
    this.channel.notify(queue, 1);
  }
}
