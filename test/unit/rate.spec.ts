import type { Rate } from '../../lib/job/limits/limit-options.js';
import { allowedInMs, jobsAllowed, useAfter, type RateUse } from '../../lib/job/limits/rate.js';
import { busiestWindow } from '../support/busiest-window.js';
import { Random } from '../support/random.js';

const UNUSED: RateUse = { untilUs: 0, used: 0 };
const START_MS = 1_790_000_000_123;

const sliding = (limit: number, perMs: number, burst: number): Rate => ({ limit, perMs, burst, window: 'sliding' });
const fixed = (limit: number, perMs: number): Rate => ({ limit, perMs, burst: 1, window: 'fixed' });

/** The times of the jobs that start if claims at random times take as many as they can. */
function startTimes(rate: Rate, forMs: number): number[] {
  const random = new Random(5);
  const times: number[] = [];
  let use = UNUSED;
  for (let nowMs = START_MS; nowMs < START_MS + forMs; nowMs += random.next() < 0.1 ? 40 : 1) {
    const jobs = Math.min(jobsAllowed(rate, use, nowMs), random.between(1, 30));
    if (jobs === 0) continue;
    use = useAfter(rate, use, nowMs, jobs);
    times.push(...Array.from({ length: jobs }, () => nowMs));
  }
  return times;
}

describe('a sliding rate', () => {
  it.each([
    [200, 1_000, 20],
    [7, 1_000, 1],
    [5, 700, 5],
    [3_000, 1_000, 100],
  ])(
    'of %d in %d ms with a burst of %d is never exceeded by more than the burst, and is used',
    (limit, perMs, burst) => {
      const times = startTimes(sliding(limit, perMs, burst), 10 * perMs);

      expect(busiestWindow(times, perMs)).toBeLessThanOrEqual(limit + burst);
      expect(times.length).toBeGreaterThan(6 * limit);
    },
  );

  it('allows a burst after a pause, and then the next job after its share of the time', () => {
    const rate = sliding(10, 1_000, 3);
    expect(jobsAllowed(rate, UNUSED, START_MS)).toBe(3);

    const used = useAfter(rate, UNUSED, START_MS, 3);

    expect(jobsAllowed(rate, used, START_MS)).toBe(0);
    expect(allowedInMs(rate, used, START_MS, 1)).toBe(100);
    expect(jobsAllowed(rate, used, START_MS + 99)).toBe(0);
    expect(jobsAllowed(rate, used, START_MS + 100)).toBe(1);
    expect(jobsAllowed(rate, used, START_MS + 60_000)).toBe(3);
  });

  it('lets a process with many jobs wait for half of a burst', () => {
    const rate = sliding(100, 1_000, 20);
    const used = useAfter(rate, UNUSED, START_MS, 20);

    expect(allowedInMs(rate, used, START_MS, 500)).toBe(100);
    expect(jobsAllowed(rate, used, START_MS + 100)).toBe(10);
  });
});

describe('a fixed rate', () => {
  it('allows the whole limit in each window', () => {
    const rate = fixed(10, 60_000);
    const startMs = 1_800_000_000_000;

    const used = { untilUs: (startMs + 60_000) * 1_000, used: 10 };

    expect(jobsAllowed(rate, UNUSED, startMs)).toBe(10);
    expect(jobsAllowed(rate, used, startMs + 59_999)).toBe(0);
    expect(allowedInMs(rate, used, startMs + 20_000, 1)).toBe(40_000);
    expect(jobsAllowed(rate, used, startMs + 60_000)).toBe(10);
  });
});
