import type { HeldClaim } from './held-claim.js';
import type { QueueWorker } from './queue-worker.js';

/** The queues of this process, which share its slots. */
export class QueueWorkers {
  readonly byName = new Map<string, QueueWorker>();
  #whenIdle: (() => void)[] = [];

  /** Jobs that run now. */
  get running(): number {
    return this.#all.reduce((sum, { running }) => sum + running, 0);
  }

  /** Nothing runs, waits, or is being claimed or settled here. */
  get isIdle(): boolean {
    return this.#all.every(({ isIdle }) => isIdle);
  }

  get #all(): QueueWorker[] {
    return [...this.byName.values()];
  }

  /** Undefined if the queue is not worked here any more. */
  of(queue: string): QueueWorker | undefined {
    return this.byName.get(queue);
  }

  /** The lease of the claim, or the lock it was made under, is gone. */
  forget(claim: HeldClaim): void {
    this.of(claim.queue)?.forget(claim);
  }

  cancel(jobId: number): void {
    for (const queue of this.#all) queue.cancel(jobId);
  }

  abortAll(reason: Error): void {
    for (const queue of this.#all) queue.abortAll(reason);
  }

  releaseAll(): void {
    for (const queue of this.#all) queue.releaseAll();
  }

  /** A slot of the process became free: the queues take turns at the head of the line for it. */
  fillInTurn(random: () => number): void {
    const queues = this.#all;
    const first = Math.floor(random() * queues.length);
    for (const queue of [...queues.slice(first), ...queues.slice(0, first)]) queue.fill();
  }

  /** One of them has become idle. */
  noteIdle(): void {
    this.#whenIdle.splice(0).forEach((resolve) => resolve());
  }

  untilIdle(): Promise<void> {
    return this.#until(() => this.isIdle);
  }

  /** Resolves when nothing of the queue is here, or the worker has ended. */
  untilOneIdle(worker: QueueWorker, ended: AbortSignal): Promise<void> {
    return this.#until(() => worker.isIdle || ended.aborted);
  }

  async #until(isIdle: () => boolean): Promise<void> {
    while (!isIdle()) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }
}
