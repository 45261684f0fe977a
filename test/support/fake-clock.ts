import { setImmediate as startImmediate } from 'node:timers';
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../lib/common/clock.js';

interface Sleeper {
  readonly ms: number;
  readonly wakesAt: number;
  readonly wake: () => void;
}

/** A clock that stands still until the test advances it. */
export class FakeClock implements Clock {
  #elapsedMs = 0;
  #sleepers = new Set<Sleeper>();
  #checks = new Set<() => void>();
  /** The duration of every sleep so far, in order. */
  readonly sleeps: number[] = [];

  get elapsedMs(): number {
    return this.#elapsedMs;
  }

  /** The number of sleepers. */
  get sleeperCount(): number {
    return this.#sleepers.size;
  }

  monotonic(): number {
    return this.#elapsedMs;
  }

  now(): Date {
    return new Date(Date.UTC(2030, 0, 1) + this.#elapsedMs);
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms <= 0 || signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        cancel();
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const cancel = this.after(ms, wake);
      signal?.addEventListener('abort', wake, { once: true });
    });
  }

  after(ms: number, act: () => void): () => void {
    if (ms <= 0) {
      const turn = startImmediate(act);
      return () => clearImmediate(turn);
    }
    this.sleeps.push(ms);
    const cancel = () => void this.#sleepers.delete(sleeper);
    const wake = () => {
      cancel();
      act();
    };
    const sleeper: Sleeper = { ms, wakesAt: this.#elapsedMs + ms, wake };
    this.#sleepers.add(sleeper);
    for (const check of this.#checks) check();
    return cancel;
  }

  /** Resolves as soon as this many sleepers sleep for exactly `ms`. */
  untilSleeping(ms: number, sleepers = 1): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if ([...this.#sleepers].filter((sleeper) => sleeper.ms === ms).length < sleepers) return;
        this.#checks.delete(check);
        resolve();
      };
      this.#checks.add(check);
      check();
    });
  }

  async advance(ms: number): Promise<void> {
    this.#elapsedMs += ms;
    const due = [...this.#sleepers].filter((sleeper) => sleeper.wakesAt <= this.#elapsedMs);
    for (const sleeper of due.sort((a, b) => a.wakesAt - b.wakesAt)) if (this.#sleepers.has(sleeper)) sleeper.wake();
    await setImmediate();
  }
}

/** Advances the clock until the promise settles, or the test ends because something else in it failed. */
export async function advanceUntilDone<T>(clock: FakeClock, done: Promise<T>): Promise<T> {
  const ended = new AbortController();
  const end = () => ended.abort();
  done.then(end, end);
  onTestFinished(end);
  while (!ended.signal.aborted) await clock.advance(1_000);
  return done;
}

/** A clock whose sleeps return at once but count. Timeouts of seconds expire at once. */
export function instantClock(): Clock {
  let elapsedMs = 0;
  return {
    monotonic: () => elapsedMs,
    now: () => new Date(),
    sleep: async (ms) => {
      elapsedMs += ms;
      await setImmediate();
    },
    after: (ms, act) => {
      const turn = startImmediate(() => {
        elapsedMs += ms;
        act();
      });
      return () => clearImmediate(turn);
    },
  };
}
