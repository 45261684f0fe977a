import { readTime } from '../core/statement.js';
import { ok, problem, type LightCheck } from './check.js';

const MAX_SKEW_MS = 1_000;

/** How far the clocks of this machine and of the server are apart. */
export const checkClock: LightCheck = {
  name: 'clock',
  isLight: true,
  async run({ database, clock }) {
    // The first statement may open a connection.
    await database.runIdempotent(readTime);
    const [sentAtMs, startedAt] = [clock.now().getTime(), clock.monotonic()];
    const serverMs = await database.runIdempotent(readTime);
    const roundTripMs = clock.monotonic() - startedAt;
    const skewMs = Math.round(serverMs - (sentAtMs + roundTripMs / 2));
    const facts = `the clock of the server is ${Math.abs(skewMs)} ms ${skewMs < 0 ? 'behind' : 'ahead of'} this machine`;
    if (Math.abs(skewMs) - roundTripMs / 2 <= MAX_SKEW_MS) return [ok(facts)];
    const wayOut =
      'Synchronize both clocks with NTP. The clock of the server decides which jobs are due, so dates that the application ' +
      'computes are off by this time.';
    return [problem(facts, wayOut)];
  },
};
