import { workerName, type NotificationChannel } from '../store/notifications/notification-channel.js';
import type { Clock } from '../common/clock.js';
import { DueNotifier } from './due-notifier.js';
import type { Worker } from './worker.js';

/**
 * Notifies the worker of this process, and workers of other processes, of new work. Notifications may be lost: a worker
 * that misses one finds the work with its next poll.
 */
export class WorkNotifier {
  #worker: Worker | undefined;
  readonly #dueNotifier: DueNotifier | undefined;

  /** @param channel undefined if this process does not notify others */
  constructor(
    private readonly channel: NotificationChannel | undefined,
    private readonly clock: Clock,
  ) {
    this.#dueNotifier = channel && new DueNotifier(channel, clock);
  }

  setWorker(worker: Worker | undefined): void {
    this.#worker = worker;
  }

  /** Call it before the jobs of the queue commit. */
  prepare(queue: string): void {
    if (!this.#worker?.works(queue)) this.channel?.prepare();
  }

  /** Up to `jobs` jobs wait. Other processes are notified if this one does not have room for all of them. */
  wake(queue: string, jobs = 1): void {
    if (!this.#worker?.wake(queue, jobs)) this.channel?.notify(queue, jobs);
  }

  /** If no worker runs here, a worker of another process is notified. */
  expectDue(queue: string, ms: number): void {
    if (this.#worker) this.#worker.expectDue(ms);
    else this.#dueNotifier?.notifyDue(queue, ms);
  }

  /** Like `expectDue`, for a date. The database's clock decides, so a worker of this process polls for it. */
  expectAt(queue: string, time: number): void {
    if (this.#worker) this.#worker.expectDue(0);
    else this.#dueNotifier?.notifyDue(queue, time - this.clock.now().getTime());
  }

  /** Makes the workers of all processes poll, because a state that only polls read has changed. */
  poll(): void {
    this.#worker?.poll();
    this.channel?.notifyAll();
  }

  /** Lets the worker that runs the job, in this process or another, read its cancellation requests. */
  readCancelRequests(workerId: string): void {
    if (workerId === this.#worker?.id) this.#worker.readCancelRequests();
    else this.channel?.notify(workerName(workerId), 1);
  }

  /** Notifies the worker that runs the job, in this process or another, of a cancellation request. */
  cancel(jobId: number, workerId: string): void {
    this.#worker?.cancel(jobId);
    if (workerId !== this.#worker?.id) this.channel?.notify(workerName(workerId), 1);
  }
}
