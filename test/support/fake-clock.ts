import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../lib/time/clock.js';

interface Sleeper {
  readonly ms: number;
  readonly wakesAt: number;
  readonly wake: () => void;
}

/** Time as a test sees it: it stands still until the test lets it pass. */
export class FakeClock implements Clock {
  #elapsedMs = 0;
  #sleepers = new Set<Sleeper>();
  #lookers = new Set<() => void>();
  /** Every rest that was ever asked for, in order. */
  readonly rests: number[] = [];

  get elapsedMs(): number {
    return this.#elapsedMs;
  }

  /** How many rest now. */
  get sleepers(): number {
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
    this.rests.push(ms);
    return new Promise((resolve) => {
      const sleeper: Sleeper = {
        ms,
        wakesAt: this.#elapsedMs + ms,
        wake: () => {
          this.#sleepers.delete(sleeper);
          signal?.removeEventListener('abort', sleeper.wake);
          resolve();
        },
      };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', sleeper.wake, { once: true });
      for (const look of this.#lookers) look();
    });
  }

  /** Resolves as soon as so many rest for exactly that long. */
  resting(ms: number, sleepers = 1): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if ([...this.#sleepers].filter((sleeper) => sleeper.ms === ms).length < sleepers) return;
        this.#lookers.delete(look);
        resolve();
      };
      this.#lookers.add(look);
      look();
    });
  }

  async advance(ms: number): Promise<void> {
    this.#elapsedMs += ms;
    const due = [...this.#sleepers].filter((sleeper) => sleeper.wakesAt <= this.#elapsedMs);
    for (const sleeper of due.sort((a, b) => a.wakesAt - b.wakesAt)) sleeper.wake();
    await setImmediate();
  }
}

/** Lets time pass until it is done: for what must end, whatever it waits for. */
export async function hurry<T>(clock: FakeClock, done: Promise<T>): Promise<T> {
  const ended = new AbortController();
  const end = () => ended.abort();
  done.then(end, end);
  while (!ended.signal.aborted) await clock.advance(1_000);
  return done;
}

/** A clock whose rests take no time but count: what would wait for seconds gives up at once. */
export function hurriedClock(): Clock {
  let elapsedMs = 0;
  return {
    monotonic: () => elapsedMs,
    now: () => new Date(),
    sleep: async (ms) => {
      elapsedMs += ms;
      await setImmediate();
    },
  };
}
