import type { Clock } from './clock.js';

/** Whether the work ended within so many milliseconds. If not, it goes on and the caller no longer waits for it. */
export async function within(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  const over = new AbortController();
  const late = clock.sleep(ms, over.signal).then(() => false);
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    over.abort();
  }
}
