import type { Clock } from './clock.js';

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
