import { inRootContext } from './async-context.js';
import type { Clock } from './clock.js';

export interface BatcherPace {
  readonly clock: Clock;
  /** The least time from the end of a flush to the start of the next one. */
  readonly intervalMs: number;
}

/** Processes items in batches: while one batch is flushed, the next one gathers. */
export class Batcher<Item> {
  #items = new Set<Item>();
  #nextFlush: Promise<void> | undefined;
  #currentFlush: Promise<void> = Promise.resolve();
  #endedAt = -Infinity;
  #rest = new AbortController();

  constructor(
    private readonly flush: (items: readonly Item[]) => Promise<void>,
    private readonly pace?: BatcherPace,
  ) {}

  /** Resolves when the batch of the item is flushed, and rejects if its flush does. An item is in a batch only once. */
  add(item: Item): Promise<void> {
    this.#items.add(item);
    return (this.#nextFlush ??= inRootContext(() => this.#flushNext()));
  }

  /** Never rejects. */
  get currentFlush(): Promise<void> {
    return this.#currentFlush;
  }

  /** Skips the pause before the next flush. Never rejects. */
  async flushNow(): Promise<void> {
    this.#rest.abort();
    await this.idle();
  }

  /** Resolves when the gathered items are flushed. Never rejects. */
  async idle(): Promise<void> {
    await this.#nextFlush?.catch(() => undefined);
    await this.#currentFlush;
  }

  async #flushNext(): Promise<void> {
    if (this.pace) this.#rest = new AbortController();
    await this.#currentFlush;
    await this.#restBetweenFlushes();
    // All items of one turn of the event loop belong to one batch.
    await new Promise((resolve) => setImmediate(resolve));
    const items = [...this.#items];
    this.#items = new Set();
    this.#nextFlush = undefined;
    const flushed = this.flush(items);
    this.#currentFlush = flushed.catch(() => undefined).finally(() => this.#recordEnd());
    return flushed;
  }

  async #restBetweenFlushes(): Promise<void> {
    if (!this.pace) return;
    const { clock, intervalMs } = this.pace;
    await clock.sleep(this.#endedAt + intervalMs - clock.monotonic(), this.#rest.signal);
  }

  #recordEnd(): void {
    if (this.pace) this.#endedAt = this.pace.clock.monotonic();
  }
}
