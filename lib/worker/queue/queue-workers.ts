import { logText } from '../../common/logger.js';
import type { ClaimedJob } from '../../job/job.js';
import type { Delay } from '../../job/snooze.js';
import type { WorkerParts } from '../worker-parts.js';
import type { ActiveClaim, ClaimOwner } from './active-claim.js';
import { startAheadLimitOf, type QueueOccupancy } from './plan.js';
import type { QueueWorker } from './queue-worker.js';

/** The queue workers of this process, which share its slots. */
export class QueueWorkers implements ClaimOwner {
  readonly byName = new Map<string, QueueWorker>();
  /** Undefined if this process listens for no notifications. */
  listener: { restartListening(): void } | undefined;
  /** The queues that the listener listens for at this moment. */
  listenedQueues: ReadonlySet<string> = new Set();
  #idleWaiters: (() => void)[] = [];

  constructor(
    private readonly parts: WorkerParts,
    private readonly workerId: string,
  ) {}

  get running(): number {
    return this.#all.reduce((sum, { runs }) => sum + runs.attempts.length, 0);
  }

  get occupancy(): QueueOccupancy[] {
    return this.#all.map(({ occupancy }) => occupancy);
  }

  /** For each queue the calls of its handlers that may run at once. */
  get slots(): Map<string, number> {
    return new Map(this.occupancy.map(({ queue, slots }) => [queue, slots]));
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
    if (!this.of(queue)?.announce(jobs)) this.parts.stores.workerChannel?.notify(queue, jobs);
  }

  /** Jobs of queues that have a worker here need no notification: the next poll finds them. */
  notifyOfUnworked(jobs: readonly { readonly queue: string }[]): void {
    for (const { queue } of jobs) if (!this.of(queue)) this.parts.stores.workerChannel?.notify(queue, 1);
  }

  startAheadLimit(claim: ActiveClaim): number {
    return startAheadLimitOf(claim, this.of(claim.queue));
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

  /** The queue has freed a slot, which all queues share if the process has a limit. */
  onSlotFree(queue: string): void {
    if (this.#shareSlots) this.#fillInTurn();
    else this.of(queue)?.fill();
  }

  /** The queue, or a part of it, has become idle. If queues lack jobs now, the listener listens for them. */
  onIdle(queue: string): void {
    if (this.#shareSlots) this.#fillInTurn();
    for (const name of this.#shareSlots ? this.names : [queue])
      if (!this.listenedQueues.has(name) && this.of(name)?.lacksJobs) this.listener?.restartListening();
    this.notifyIdle();
  }

  /** Lets the group of the job, or without one its queue, rest in all processes. Never rejects. */
  async rest({ queue, group }: Pick<ClaimedJob, 'queue' | 'group'>, rest: Delay): Promise<void> {
    const { stores, logger } = this.parts;
    const what = group === null ? `queue "${queue}"` : `group "${group}" of queue "${queue}"`;
    const storing = group === null ? stores.limits.rest(queue, rest) : stores.groups.rest(queue, group, rest);
    // Without the rest, the next call fails like this one and asks for it again.
    const stored = storing.catch((error: Error) =>
      logger.warn(`Cannot let ${what} rest: ${logText(error.message)}`, { queue, workerId: this.workerId }),
    );
    if (group !== null) return stored;
    void this.of(queue)?.rest(stored);
    await stored;
    stores.workerChannel?.notifyAll();
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

  get #shareSlots(): boolean {
    return Number.isFinite(this.parts.workerOptions.concurrency);
  }

  /** Starts with a random queue, so that each queue has the same chance of a slot of the process that became free. */
  #fillInTurn(): void {
    const queues = this.#all;
    const first = Math.floor(this.parts.random() * queues.length);
    for (const queue of [...queues.slice(first), ...queues.slice(0, first)]) queue.fill();
  }

  async #until(isIdle: () => boolean): Promise<void> {
    while (!isIdle()) await new Promise<void>((resolve) => this.#idleWaiters.push(resolve));
  }
}
