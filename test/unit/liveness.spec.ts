import { liveness } from '../../lib/extras/terminus/liveness.js';
import type { RunnerHealth } from '../../lib/worker/runner-health.js';

const NOW = Date.UTC(2030, 0, 1);
const clock = { now: () => new Date(NOW) };
const OPTIONS = { maxPollAge: 60_000 };

function healthOf(pollAgeMs: number | null, more: Partial<RunnerHealth> = {}): RunnerHealth {
  return {
    state: 'running',
    lastPollAt: pollAgeMs === null ? null : new Date(NOW - pollAgeMs),
    isPolling: false,
    maxPollPauseMs: 2_000,
    databaseDownSince: null,
    running: 0,
    prefetched: 0,
    ...more,
  };
}

describe('the liveness of a worker', () => {
  it.each([
    ['has polled lately', healthOf(60_000), 'up'],
    ['has not polled for longer than a minute and its pauses', healthOf(64_001), 'down'],
    ['has long pauses between polls', healthOf(64_001, { maxPollPauseMs: 60_000 }), 'up'],
    ['polls a database that does not answer', healthOf(200_000, { isPolling: true }), 'up'],
    ['has waited for the end of one poll for longer than five minutes', healthOf(300_001, { isPolling: true }), 'down'],
    ['has not polled so far', healthOf(null), 'up'],
    ['is stopping, and polls no more', healthOf(100_000, { state: 'stopping' }), 'up'],
    ['does not run', healthOf(null, { state: 'stopped' }), 'up'],
  ])('is right if the worker %s', (_, health, status) => {
    expect(liveness(health, OPTIONS, clock).status).toBe(status);
  });
});
