import type { NotificationChannel } from '../store/notifications/notification-channel.js';
import type { QueueWorkers } from './queue/queue-workers.js';

/** Announces new jobs to the queue workers of this process first, and to other processes if these have no room. */
export class WorkAnnouncer {
  /** @param channel undefined if this process does not notify others */
  constructor(
    private readonly queues: QueueWorkers,
    private readonly channel: Pick<NotificationChannel, 'notify'> | undefined,
  ) {}

  announce(queue: string, jobs: number): void {
    if (!this.queues.announce(queue, jobs)) this.channel?.notify(queue, jobs);
  }

  /** Jobs of queues that have a worker here need no notification: the next poll finds them. */
  notifyOfUnworked(jobs: readonly { readonly queue: string }[]): void {
    for (const { queue } of jobs) if (!this.queues.of(queue)) this.channel?.notify(queue, 1);
  }
}
