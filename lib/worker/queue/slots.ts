/** How many handler calls may run at once in this process, over all its queues. */
export class Slots {
  #used = 0;
  #reserved = 0;

  constructor(private readonly total: number) {}

  get free(): number {
    return this.total - this.#used - this.#reserved;
  }

  /** Keeps slots free for jobs that are being claimed. */
  reserve(slots: number): void {
    this.#reserved += slots;
  }

  acquire(): void {
    this.#used++;
  }

  release(): void {
    this.#used--;
  }
}
