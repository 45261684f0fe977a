/**
 * Where this process takes its time from. Nothing else in the library reads a clock or sets a timer.
 * What is due and whose lease holds is never decided by it: that is the database's clock.
 */
export interface Clock {
  /** Milliseconds that only ever grow, also when somebody sets the machine's clock. */
  monotonic(): number;
  /** The time of day, for records people read. */
  now(): Date;
  /** Resolves after `ms`, or as soon as the signal is aborted. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Milliseconds of the machine's monotonic clock, which all threads share. */
export function sharedMonotonic(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

// setTimeout fires at once for anything above this.
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  monotonic: () => performance.now(),
  now: () => new Date(),
  sleep: (ms, signal) => {
    if (ms <= 0 || signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, Math.min(ms, LONGEST_TIMER_MS));
      signal?.addEventListener('abort', done, { once: true });
    });
  },
};
