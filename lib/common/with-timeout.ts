import type { Clock } from './clock.js';

/** The value of the work; rejects with `late()` if it does not end within `ms`. */
export async function answerWithin<T>(
  clock: Pick<Clock, 'sleep'>,
  ms: number,
  work: Promise<T>,
  late: () => Error,
): Promise<T> {
  if (!(await withTimeout(clock, ms, work))) throw late();
  return work;
}

/**
 * Resolves with true when the work ends within `ms` and before `stop`, else with false. Late work goes on, and its
 * outcome is ignored.
 */
export async function withTimeout(
  clock: Pick<Clock, 'sleep'>,
  ms: number,
  work: PromiseLike<unknown>,
  stop?: AbortSignal,
): Promise<boolean> {
  const over = new AbortController();
  const signal = stop ? AbortSignal.any([over.signal, stop]) : over.signal;
  const late = clock.sleep(ms, signal).then(() => false);
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    over.abort();
  }
}
