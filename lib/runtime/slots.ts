/** How many jobs may run at once in this process, over all its queues. */
export class Slots {
  #taken = 0;

  constructor(private readonly total: number) {}

  get free(): number {
    return this.total - this.#taken;
  }

  take(): void {
    this.#taken++;
  }

  giveBack(): void {
    this.#taken--;
  }
}
