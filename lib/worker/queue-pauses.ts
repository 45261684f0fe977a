import type { QueueWorkers } from './queue/queue-workers.js';

/**
 * Opens and closes the queues of a worker: a queue is closed while it is paused or removed, or while the worker stops.
 */
export class QueuePauses {
  readonly #inProcess: Set<string>;
  readonly #everywhere = new Set<string>();
  readonly #removed = new Set<string>();
  #isQuiet = false;

  /**
   * @param pausedQueues the queues that are paused in this process from the start
   * @param onChanged called after queues may have opened or closed
   */
  constructor(
    private readonly queues: QueueWorkers,
    pausedQueues: readonly string[],
    private readonly onChanged: () => void,
  ) {
    this.#inProcess = new Set(pausedQueues);
  }

  /** Whether the worker has stopped claiming. */
  get isQuiet(): boolean {
    return this.#isQuiet;
  }

  /** Pauses the queues in this process. */
  pause(queues: readonly string[]): void {
    queues.forEach((queue) => this.#inProcess.add(queue));
    this.apply();
  }

  resume(queues: readonly string[]): void {
    queues.forEach((queue) => this.#inProcess.delete(queue));
    this.apply();
  }

  /** Records that the queue is paused in this process, without closing it yet. */
  addPaused(queue: string): void {
    this.#inProcess.add(queue);
  }

  isPausedEverywhere(queue: string): boolean {
    return this.#everywhere.has(queue);
  }

  /** Records whether the queue is paused in all processes, without opening or closing it yet. */
  setPausedEverywhere(queue: string, isPaused: boolean): void {
    if (isPaused) this.#everywhere.add(queue);
    else this.#everywhere.delete(queue);
  }

  /** Closes the queue until `delete`. */
  remove(queue: string): void {
    this.#removed.add(queue);
    this.apply();
  }

  /** Forgets the queue. */
  delete(queue: string): void {
    this.#removed.delete(queue);
    this.#inProcess.delete(queue);
    this.#everywhere.delete(queue);
  }

  /** Closes all queues for the rest of the worker's life. */
  quiet(): void {
    this.#isQuiet = true;
    this.apply();
  }

  /** Opens and closes the queue workers. */
  apply(): void {
    for (const [queue, worker] of this.queues.byName) worker.setOpen(this.#isOpen(queue));
    this.onChanged();
  }

  #isOpen(queue: string): boolean {
    if (this.#isQuiet || this.#removed.has(queue)) return false;
    return !this.#inProcess.has(queue) && !this.#everywhere.has(queue);
  }
}
