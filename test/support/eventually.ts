import { setTimeout } from 'node:timers/promises';

const POLL_INTERVAL_MS = 5;

/**
 * Repeats the check until it returns a truthy value, and returns that value. The timeout of the test ends a check
 * that never succeeds.
 */
export async function eventually<T>(check: () => Promise<T | false | undefined | null> | T | false | undefined | null) {
  for (;;) {
    const answer = await check();
    if (answer) return answer;
    await setTimeout(POLL_INTERVAL_MS);
  }
}
