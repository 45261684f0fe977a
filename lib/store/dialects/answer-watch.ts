import type { Clock } from '../../time/clock.js';

interface Wait {
  readonly until: number;
  readonly giveUp: () => void;
}

/** Ends waits for answers that do not come. One timer for all of them, since nearly every answer comes. */
export class AnswerWatch {
  /** In the order of their ends, as all have the same length. */
  readonly #waits = new Set<Wait>();
  readonly #stopped = new AbortController();
  #isWatching = false;

  constructor(
    private readonly clock: Clock,
    private readonly limitMs: number,
  ) {}

  /** Calls `giveUp` when the time is over, unless what it answers is called before. */
  begin(giveUp: () => void): () => unknown {
    if (this.isStopped) {
      giveUp();
      return () => false;
    }
    const wait = { until: this.clock.monotonic() + this.limitMs, giveUp };
    this.#waits.add(wait);
    if (!this.#isWatching) void this.#watch();
    return () => this.#waits.delete(wait);
  }

  get isStopped(): boolean {
    return this.#stopped.signal.aborted;
  }

  /** Ends all waits now, and those that begin later at once. */
  stop(): void {
    this.#stopped.abort();
    for (const wait of this.#waits) wait.giveUp();
    this.#waits.clear();
  }

  async #watch(): Promise<void> {
    this.#isWatching = true;
    while (this.#waits.size > 0 && !this.isStopped) {
      const [next] = this.#waits;
      await this.clock.sleep(next!.until - this.clock.monotonic(), this.#stopped.signal);
      this.#endOverdue();
    }
    this.#isWatching = false;
  }

  #endOverdue(): void {
    const now = this.clock.monotonic();
    for (const wait of this.#waits) {
      if (wait.until > now) return;
      this.#waits.delete(wait);
      wait.giveUp();
    }
  }
}
