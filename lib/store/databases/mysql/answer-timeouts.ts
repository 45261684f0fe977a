import { inRootContext } from '../../../common/async-context.js';
import type { Clock } from '../../../common/clock.js';

/** All timeouts share one timer, because nearly every answer arrives in time. */
export class AnswerTimeouts {
  /** In the order of their ends, because all have the same length. */
  readonly #pending = new Set<{ readonly until: number; readonly onTimeout: () => void }>();
  readonly #stopped = new AbortController();
  #isWatching = false;

  constructor(
    private readonly clock: Clock,
    private readonly timeoutMs: number,
  ) {}

  /** Calls `onTimeout` after the timeout, unless the returned function is called first. */
  start(onTimeout: () => void): () => unknown {
    if (this.isStopped) {
      onTimeout();
      return () => false;
    }
    const wait = { until: this.clock.monotonic() + this.timeoutMs, onTimeout };
    this.#pending.add(wait);
    if (!this.#isWatching) void inRootContext(() => this.#watch());
    return () => this.#pending.delete(wait);
  }

  get isStopped(): boolean {
    return this.#stopped.signal.aborted;
  }

  /** Times out all pending answers now, and later ones at once. */
  stop(): void {
    this.#stopped.abort();
    for (const wait of this.#pending) wait.onTimeout();
    this.#pending.clear();
  }

  async #watch(): Promise<void> {
    this.#isWatching = true;
    while (this.#pending.size > 0 && !this.isStopped) {
      const [next] = this.#pending;
      await this.clock.sleep(next!.until - this.clock.monotonic(), this.#stopped.signal);
      this.#expireOverdue();
    }
    this.#isWatching = false;
  }

  #expireOverdue(): void {
    const now = this.clock.monotonic();
    for (const wait of this.#pending) {
      if (wait.until > now) return;
      this.#pending.delete(wait);
      wait.onTimeout();
    }
  }
}
