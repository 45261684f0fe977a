import { systemClock } from './clock.js';

const MAX_TURN_MS = 20;

let startedAt: number | undefined;

/**
 * Whether the library has used this turn of the event loop for so long that heartbeats, timers and requests wait. A loop over
 * any number of things asks after each one, and then awaits `nextTurn`. All loops of the process share the turn.
 */
export function isTurnLong(): boolean {
  const now = systemClock.monotonic();
  if (startedAt === undefined) {
    startedAt = now;
    setImmediate(() => (startedAt = undefined));
  }
  return now - startedAt > MAX_TURN_MS;
}

/** Resolves after the event loop has served timers and sockets. */
export async function nextTurn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
