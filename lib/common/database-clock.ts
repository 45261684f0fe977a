import type { Clock } from './clock.js';

// A reading that took longer replaces a more precise one only after this time, in which the clocks hardly drift.
const PRECISE_FOR_MS = 60_000;

/** Estimates the time of the database from the times that its answers contain. Asks for none itself. */
export class DatabaseClock {
  #offsetMs: number | undefined;
  #tookMs = Infinity;
  #readAt = -Infinity;

  constructor(private readonly clock: Pick<Clock, 'monotonic'>) {}

  /**
   * @param atMs the time of the database, in milliseconds since 1970
   * @param requestedAt the monotonic time before the request
   */
  learn(atMs: number, requestedAt: number): void {
    const now = this.clock.monotonic();
    const tookMs = now - requestedAt;
    if (tookMs > this.#tookMs && now - this.#readAt < PRECISE_FOR_MS) return;
    this.#offsetMs = atMs - (requestedAt + now) / 2;
    this.#tookMs = tookMs;
    this.#readAt = now;
  }

  /** The time of the database at a monotonic time of this process, by default now; undefined if it is not known yet. */
  at(monotonicMs = this.clock.monotonic()): number | undefined {
    return this.#offsetMs === undefined ? undefined : Math.round(this.#offsetMs + monotonicMs);
  }
}
