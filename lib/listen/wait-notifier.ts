import type { ClaimedJob } from '../job/job.js';
import type { NotificationChannel } from '../store/notifications/notification-channel.js';
import type { WaitStore } from '../store/features/waits/wait-store.js';
import { Batcher } from '../common/batcher.js';
import { waiterName, type Waiter } from './waiter.js';

// The limit of jobs that end between two polls while the worker knows of no waiter.
const MAX_UNNOTIFIED_JOBS = 5_000;

/**
 * Notifies the waiters of a job, in all processes, when the job has changed. While no process waits for jobs, it sends
 * no statement. A waiter that misses a notification finds the change by polling.
 */
export class WaitNotifier {
  #waitsUntil: number | null = null;
  readonly #unnotified = new Set<number>();
  readonly #batcher: Batcher<number>;

  /**
   * @param channel undefined if this process does not notify others
   * @param waiter the waiter of this process
   */
  constructor(
    private readonly store: Pick<WaitStore, 'waitersOf'>,
    private readonly channel: NotificationChannel | undefined,
    private readonly waiter: Pick<Waiter, 'name' | 'waits' | 'onNotification'>,
  ) {
    this.#batcher = new Batcher((ids) => this.#sendNotifications(ids));
  }

  /**
   * Records `WorkSummary.awaited` of a poll: null if no process waits, and a new number when another process starts to
   * wait. Returns whether a process has started to wait since the last poll.
   */
  observeWaits(waitsUntil: number | null): boolean {
    const hasNewWaits = waitsUntil !== null && waitsUntil !== this.#waitsUntil;
    this.#waitsUntil = waitsUntil;
    if (waitsUntil !== null) this.#unnotified.forEach((id) => this.#notifyWaiters(id));
    this.#unnotified.clear();
    return hasNewWaits;
  }

  notifyChanged(jobId: number): void {
    this.#notifyOwnWaits(jobId);
    if (this.#waitsUntil !== null) this.#notifyWaiters(jobId);
    else if (this.#unnotified.size < MAX_UNNOTIFIED_JOBS) this.#unnotified.add(jobId);
  }

  notifyEnded({ id, overrides }: Pick<ClaimedJob, 'id' | 'overrides'>): void {
    if (overrides?.reply) this.notifyAlways(id);
    else this.notifyChanged(id);
  }

  /** Like `notifyChanged`, but also if no poll has found a waiter. */
  notifyAlways(jobId: number): void {
    this.#notifyOwnWaits(jobId);
    this.#notifyWaiters(jobId);
  }

  /** Resolves when all notifications were handed to the channel. */
  idle(): Promise<void> {
    return this.#batcher.idle();
  }

  #notifyOwnWaits(jobId: number): void {
    if (this.waiter.waits.has(jobId)) this.waiter.onNotification();
  }

  #notifyWaiters(jobId: number): void {
    // An error is ignored, because waiters also poll.
    if (this.channel) void this.#batcher.add(jobId).catch(() => undefined);
  }

  async #sendNotifications(jobIds: readonly number[]): Promise<void> {
    const names = (await this.store.waitersOf(jobIds)).map(waiterName);
    for (const name of names) if (name !== this.waiter.name) this.channel!.notify(name, 1);
  }
}
