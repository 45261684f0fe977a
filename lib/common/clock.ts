import { inRootContext } from './async-context.js';

/**
 * The time of this process. The rest of the library reads no clock and sets no timer. The clock of the database decides
 * which jobs are due and which leases have expired.
 */
export interface Clock {
  /** Milliseconds that never decrease, even if the clock of the machine is set. */
  monotonic(): number;
  /** The time of day, for records that people read. */
  now(): Date;
  /**
   * Resolves after `ms`, or as soon as the signal is aborted. Never rejects.
   *
   * @param mode `background`: the sleep does not keep the process alive
   */
  sleep(ms: number, signal?: AbortSignal, mode?: 'background'): Promise<void>;
  /** Calls `act` after `ms`, unless the returned function is called first. Costs less than a sleep with a signal. */
  after(ms: number, act: () => void): () => void;
}

/** Milliseconds of the monotonic clock of the machine. All threads and processes share it. */
export function sharedMonotonic(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

// setTimeout fires at once for longer delays.
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Like setTimeout, for any delay. Returns a function that cancels the call. */
function callLater(ms: number, act: () => void, mode?: 'background'): () => void {
  let timer: NodeJS.Timeout;
  const wait = (leftMs: number) => {
    const next = () => (leftMs > MAX_TIMER_MS ? wait(leftMs - MAX_TIMER_MS) : act());
    timer = setTimeout(next, Math.min(leftMs, MAX_TIMER_MS));
    if (mode === 'background') timer.unref();
  };
  wait(ms);
  return () => clearTimeout(timer);
}

export const systemClock: Clock = {
  monotonic: () => performance.now(),
  now: () => new Date(),
  sleep: (ms, signal, mode) => {
    if (ms <= 0 || signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        cancel();
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const cancel = callLater(ms, done, mode);
      signal?.addEventListener('abort', done, { once: true });
    });
  },
  after: (ms, act) => {
    if (ms > 0) return callLater(ms, act);
    const turn = setImmediate(act);
    return () => clearImmediate(turn);
  },
};

/** Like `clock.after`, outside of the async context of the caller. */
export function callAfter(clock: Pick<Clock, 'after'>, ms: number, act: () => void): () => void {
  return clock.after(ms, () => inRootContext(act));
}

/** Rings once at the time that was set last. */
export class Alarm {
  #time = Infinity;
  #cancel: (() => void) | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly onTime: (time: number) => void,
  ) {}

  /** @param time by the monotonic clock; Infinity: never */
  set(time: number): void {
    if (time === this.#time) return;
    this.#cancel?.();
    this.#time = time;
    this.#cancel = time === Infinity ? undefined : callAfter(this.clock, time - this.clock.monotonic(), this.#ring);
  }

  readonly #ring = (): void => {
    const time = this.#time;
    this.#time = Infinity;
    this.onTime(time);
  };
}

/** Milliseconds that are added to the time of the database. Only tests and the test harness change them. */
export interface Skew {
  readonly ms: number;
}

export const NO_SKEW: Skew = { ms: 0 };

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

  /** Like `learn`, if the monotonic clock may have stood still since the last time: then the estimate was late. */
  learnAnew(atMs: number, requestedAt: number): void {
    this.#tookMs = Infinity;
    this.learn(atMs, requestedAt);
  }

  /** The time of the database at a monotonic time of this process, by default now; undefined if it is not known yet. */
  at(monotonicMs = this.clock.monotonic()): number | undefined {
    return this.#offsetMs === undefined ? undefined : Math.round(this.#offsetMs + monotonicMs);
  }
}
