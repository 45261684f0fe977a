/** How many jobs may run at once in this process, over all its queues. */
export class Slots {
  #taken = 0;
  #reserved = 0;

  constructor(private readonly total: number) {}

  get free(): number {
    return this.total - this.#taken - this.#reserved;
  }

  /** So many stay free for jobs that are being claimed. */
  reserve(slots: number): void {
    this.#reserved += slots;
  }

  unreserve(slots: number): void {
    this.#reserved -= slots;
  }

  take(): void {
    this.#taken++;
  }

  giveBack(): void {
    this.#taken--;
  }
}
