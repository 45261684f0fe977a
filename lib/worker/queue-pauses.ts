import type { QueueWorkers } from './queue/queue-workers.js';

/** A queue is closed while it is added, paused or removed, and while the worker stops. */
export class QueuePauses {
  readonly #everywhere = new Set<string>();
  /** Those that are being added or removed. */
  readonly #closed = new Set<string>();
  #isQuiet = false;

  constructor(
    private readonly queues: QueueWorkers,
    private readonly isPausedHere: (queue: string) => boolean,
    private readonly onChanged: () => void,
  ) {}

  get isQuiet(): boolean {
    return this.#isQuiet;
  }

  /** Opens or closes the queue if that has changed, and returns whether it has. */
  observePausedEverywhere(queue: string, isPaused: boolean): boolean {
    if (isPaused === this.#everywhere.has(queue)) return false;
    this.setPausedEverywhere(queue, isPaused);
    this.apply();
    return true;
  }

  /** Records whether the queue is paused in all processes, without opening or closing it yet. */
  setPausedEverywhere(queue: string, isPaused: boolean): void {
    if (isPaused) this.#everywhere.add(queue);
    else this.#everywhere.delete(queue);
  }

  /** Keeps the queue closed from the next `apply` on, until `open`. */
  close(queue: string): void {
    this.#closed.add(queue);
  }

  /** The next `apply` opens the queue unless it is paused. */
  open(queue: string): void {
    this.#closed.delete(queue);
  }

  delete(queue: string): void {
    this.#closed.delete(queue);
    this.#everywhere.delete(queue);
  }

  /** Closes all queues for the rest of the worker's life. */
  quiet(): void {
    this.#isQuiet = true;
    this.apply();
  }

  /**
   * Opens and closes the queues. Call it after a pause of this process has begun or ended.
   *
   * @param wakes false: a poll follows, which finds the jobs of the queues that open
   */
  apply(wakes = true): void {
    for (const [queue, worker] of this.queues.byName) worker.setOpen(this.#isOpen(queue), wakes);
    this.onChanged();
  }

  #isOpen(queue: string): boolean {
    if (this.#isQuiet || this.#closed.has(queue)) return false;
    return !this.#everywhere.has(queue) && !this.isPausedHere(queue);
  }
}
