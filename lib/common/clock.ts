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
}

/** Milliseconds of the monotonic clock of the machine. All threads and processes share it. */
export function sharedMonotonic(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

// setTimeout fires at once for longer delays.
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  monotonic: () => performance.now(),
  now: () => new Date(),
  sleep: (ms, signal, mode) => {
    if (ms <= 0 || signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, Math.min(ms, MAX_TIMER_MS));
      if (mode === 'background') timer.unref();
      signal?.addEventListener('abort', done, { once: true });
    });
  },
};

/** Calls `act` after `ms`, unless the returned controller is aborted before. */
export function callAfter(clock: Pick<Clock, 'sleep'>, ms: number, act: () => void): AbortController {
  const timer = new AbortController();
  void clock.sleep(ms, timer.signal).then(() => timer.signal.aborted || inRootContext(act));
  return timer;
}
