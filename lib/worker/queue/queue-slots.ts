/** The slots of one queue in this process, and the jobs in its prefetch buffer. */
export interface QueueOccupancy {
  readonly queue: string;
  /** How many calls of its handlers may run at once: its `concurrency`. */
  readonly slots: number;
  /** How many of them run. A batch is one call. */
  readonly busy: number;
  readonly prefetched: number;
}

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

/** Slots that no other queue can use while a claim fetches jobs for them. */
export interface SlotReservation {
  resize(slots: number): void;
  release(): void;
}

/** The slots of one queue: at most `concurrency`, and no more than the process has. */
export class QueueSlots {
  #used = 0;
  #reserved = 0;

  constructor(
    private readonly processSlots: Slots,
    private concurrency: number,
  ) {}

  /** Includes the slots that this queue has reserved. */
  get free(): number {
    const free = Math.min(this.processSlots.free + this.#reserved, this.concurrency - this.#used);
    return Math.max(0, free);
  }

  get used(): number {
    return this.#used;
  }

  get limit(): number {
    return this.concurrency;
  }

  setConcurrency(concurrency: number): void {
    this.concurrency = concurrency;
  }

  acquire(): void {
    this.#used++;
    this.processSlots.acquire();
  }

  release(): void {
    this.#used--;
    this.processSlots.release();
  }

  reserve(slots: number): SlotReservation {
    let reserved = 0;
    const resize = (size: number) => {
      this.#reserved += size - reserved;
      this.processSlots.reserve(size - reserved);
      reserved = size;
    };
    resize(slots);
    return { resize, release: () => resize(0) };
  }
}
