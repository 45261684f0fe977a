import { getEventListeners } from 'node:events';
import { systemClock } from '../../lib/common/clock.js';

const DAY_MS = 86_400_000;

describe('the system clock', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  // One timer of Node lasts 24.8 days at most.
  it.each([1, 20, 30, 100])('calls after %i day(s), and not before', (days) => {
    let calls = 0;
    systemClock.after(days * DAY_MS, () => calls++);

    vi.advanceTimersByTime(days * DAY_MS - 1);
    const before = calls;
    vi.advanceTimersByTime(1);

    expect([before, calls]).toEqual([0, 1]);
  });

  it.each([1, 20, 30, 100])('sleeps for %i day(s), and not for less', async (days) => {
    let hasSlept = false;
    const sleep = systemClock.sleep(days * DAY_MS).then(() => (hasSlept = true));

    await vi.advanceTimersByTimeAsync(days * DAY_MS - 1);
    const before = hasSlept;
    await vi.advanceTimersByTimeAsync(1);
    await sleep;

    expect(before).toBe(false);
  });

  it.each([0, 10, 40])('ends a sleep whose signal is aborted after %i day(s)', async (days) => {
    const stop = new AbortController();
    const sleep = systemClock.sleep(60 * DAY_MS, stop.signal);

    await vi.advanceTimersByTimeAsync(days * DAY_MS);
    stop.abort();
    await sleep;

    expect([vi.getTimerCount(), getEventListeners(stop.signal, 'abort')]).toEqual([0, []]);
  });

  it.each([0, 10, 40])('calls nothing that is cancelled after %i day(s)', (days) => {
    let calls = 0;
    const cancel = systemClock.after(60 * DAY_MS, () => calls++);

    vi.advanceTimersByTime(days * DAY_MS);
    cancel();
    vi.advanceTimersByTime(100 * DAY_MS);

    expect(calls).toBe(0);
  });
});
