import type { OwnWork } from '../job/own-work.js';
import { workerName, type NotificationChannel } from '../store/notifications/notification-channel.js';
import type { Clock } from '../common/clock.js';
import type { QueueWorkers } from './queue/queue-workers.js';
import type { Worker } from './worker.js';

// A notified worker may stop before the job is due. After this time another one is notified.
const DUE_NOTIFICATION_VALID_MS = 1_000;
const MAX_DUE_QUEUES = 1_000;

/**
 * Notifies the worker of this process, and workers of other processes, of new work. Notifications may be lost: a worker
 * that misses one finds the work with its next poll.
 */
export class WorkNotifier {
  #worker: Worker | undefined;
  /** The times of the last notifications of scheduled jobs, by queue. */
  readonly #dueNotifications = new Map<string, { readonly dueAt: number; readonly validUntil: number }>();

  /** @param channel undefined if this process does not notify others */
  constructor(
    private readonly channel: NotificationChannel | undefined,
    private readonly clock: Clock,
  ) {}

  setWorker(worker: Worker | undefined): void {
    this.#worker = worker;
  }

  /** Whether a worker of this process works the queue. */
  serves(queue: string): boolean {
    return this.#queues?.of(queue) !== undefined;
  }

  /** Call it before the jobs of the queue commit. */
  prepare(queue: string): void {
    if (!this.serves(queue)) this.channel?.prepare();
  }

  /** Up to `jobs` jobs wait. Other processes are notified if this one does not have room for all of them. */
  wake(queue: string, jobs = 1): void {
    if (this.#queues) this.#queues.announce(queue, jobs);
    else this.channel?.notify(queue, jobs);
  }

  /** If no worker runs here, a worker of another process is notified. */
  expectDue(queue: string, ms: number): void {
    if (this.#worker) this.#worker.poller.expectDue(ms);
    else this.#notifyDue(queue, ms);
  }

  /** Like `expectDue`, for a date. The database's clock decides, so a worker of this process polls for it. */
  expectAt(queue: string, time: number): void {
    if (this.#worker) this.#worker.poller.expectDue(0);
    else this.#notifyDue(queue, time - this.clock.now().getTime());
  }

  /** Makes the workers of all processes poll, because a state that only polls read has changed. */
  poll(): void {
    this.#worker?.poller.wake();
    this.channel?.notifyAll();
  }

  /** Lets the worker that runs the job, in this process or another, read its cancellation requests. */
  readCancelRequests(workerId: string): void {
    if (workerId === this.#worker?.id) void this.#worker.cancelRequestReader.read();
    else this.channel?.notify(workerName(workerId), 1);
  }

  /** Notifies the worker that runs the job, in this process or another, of a cancellation request. */
  cancel(jobId: number, workerId: string): void {
    this.#queues?.cancel(jobId);
    if (workerId !== this.#worker?.id) this.channel?.notify(workerName(workerId), 1);
  }

  /** Whether a worker of this process works the queue and has no free slot for it now. */
  isFull(queue: string): boolean {
    return this.#queues?.of(queue)?.isFull ?? false;
  }

  /** Of the worker of this process. Other parts of the process that rescue jobs need it. */
  get ownWork(): OwnWork | undefined {
    return this.#worker?.ownWork;
  }

  get #queues(): QueueWorkers | undefined {
    return this.#worker?.queues;
  }

  /**
   * Notifies a worker of another process, so that it polls when the job is due. That worker then reads the next due time
   * of all queues, so a later job of the queue needs no notification of its own.
   */
  #notifyDue(queue: string, dueInMs: number): void {
    const now = this.clock.monotonic();
    const dueAt = now + Math.max(0, dueInMs);
    const last = this.#dueNotifications.get(queue);
    if (!this.channel || (last && last.dueAt <= dueAt && now < last.validUntil)) return;
    if (this.#dueNotifications.size >= MAX_DUE_QUEUES) this.#dueNotifications.clear();
    this.#dueNotifications.set(queue, { dueAt, validUntil: Math.min(dueAt, now + DUE_NOTIFICATION_VALID_MS) });
    this.channel.notify(queue, 1);
  }
}
