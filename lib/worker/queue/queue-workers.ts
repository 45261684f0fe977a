import type { NotificationChannel } from '../../store/notifications/notification-channel.js';
import type { ActiveClaim } from './active-claim.js';
import type { QueueOccupancy } from './queue-slots.js';
import type { QueueWorker } from './queue-worker.js';

/** The queue workers of this process, which share its slots. */
export class QueueWorkers {
  readonly byName = new Map<string, QueueWorker>();
  #idleWaiters: (() => void)[] = [];

  /** @param channel undefined if this process does not notify others */
  constructor(private readonly channel: Pick<NotificationChannel, 'notify'> | undefined) {}

  get running(): number {
    return this.#all.reduce((sum, { runs }) => sum + runs.attempts.length, 0);
  }

  get occupancy(): QueueOccupancy[] {
    return this.#all.map(({ occupancy }) => occupancy);
  }

  /** How many jobs this process has claimed so far. */
  get claimedCount(): number {
    return this.#all.reduce((sum, { claimedCount }) => sum + claimedCount, 0);
  }

  get isIdle(): boolean {
    return this.#all.every(({ isIdle }) => isIdle);
  }

  get #all(): QueueWorker[] {
    return [...this.byName.values()];
  }

  /** Undefined if this process does not work the queue, or no longer. */
  of(queue: string): QueueWorker | undefined {
    return this.byName.get(queue);
  }

  get names(): string[] {
    return [...this.byName.keys()];
  }

  /** Announces up to `jobs` new jobs to the worker of the queue, and to other processes if it has no room for all. */
  announce(queue: string, jobs: number): void {
    if (!this.of(queue)?.announce(jobs)) this.channel?.notify(queue, jobs);
  }

  /** Jobs of queues that have a worker here need no notification: the next poll finds them. */
  notifyOfUnworked(jobs: readonly { readonly queue: string }[]): void {
    for (const { queue } of jobs) if (!this.of(queue)) this.channel?.notify(queue, 1);
  }

  abandon(claim: ActiveClaim): void {
    this.of(claim.queue)?.abandon(claim);
  }

  resume(claim: ActiveClaim): void {
    this.of(claim.queue)?.fill();
  }

  isRunning(claimId: number, jobId: number): boolean {
    return this.#all.some(({ runs }) => runs.isRunning(claimId, jobId));
  }

  cancelClaimed(claim: ActiveClaim, jobId: number): boolean {
    return this.of(claim.queue)?.runs.cancel(jobId, claim) ?? false;
  }

  cancel(jobId: number): void {
    for (const { runs } of this.#all) runs.cancel(jobId);
  }

  abortAll(reason: Error): void {
    for (const { runs } of this.#all) runs.abort(reason);
  }

  releaseAll(): void {
    for (const { runs } of this.#all) runs.release();
  }

  /** Starts with a random queue, so that each queue has the same chance of a slot of the process that became free. */
  fillInTurn(random: () => number): void {
    const queues = this.#all;
    const first = Math.floor(random() * queues.length);
    for (const queue of [...queues.slice(first), ...queues.slice(0, first)]) queue.fill();
  }

  notifyIdle(): void {
    this.#idleWaiters.splice(0).forEach((resolve) => resolve());
  }

  untilIdle(): Promise<void> {
    return this.#until(() => this.isIdle);
  }

  untilOneIdle(worker: QueueWorker, ended: AbortSignal): Promise<void> {
    return this.#until(() => worker.isIdle || ended.aborted);
  }

  async #until(isIdle: () => boolean): Promise<void> {
    while (!isIdle()) await new Promise<void>((resolve) => this.#idleWaiters.push(resolve));
  }
}
