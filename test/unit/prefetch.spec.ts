import { resolveQueueOptions, type QueueOptions } from '../../lib/job/queue-options.js';
import { Prefetch } from '../../lib/runtime/prefetch.js';

/** After runs that took so long. */
function after(ranMs: number[], options: QueueOptions & { atOnce?: number; leaseMs?: number } = {}) {
  const { atOnce = 10, leaseMs, ...given } = options;
  const resolved = resolveQueueOptions(given);
  const prefetch = new Prefetch({ ...resolved, leaseMs: leaseMs ?? resolved.leaseMs }, atOnce);
  for (const ms of ranMs) prefetch.note(ms);
  return prefetch;
}

const times = (count: number, ms: number) => Array.from({ length: count }, () => ms);
const ofBytes = (count: number, bytes: number) => Array.from({ length: count }, () => ({ payload: 'x'.repeat(bytes) }));

describe('how many jobs are claimed ahead', () => {
  it('is none before anything is known of how long they take', () => {
    expect(after([]).size).toBe(0);
  });

  it.each([
    [5_000, 0],
    [1_001, 0],
    [1_000, 1],
    [100, 10],
    [20, 50],
  ])('where jobs take %i ms is what ten slots begin within a tenth of a second: %i', (ms, size) => {
    expect(after([ms]).size).toBe(size);
  });

  it('is never without an end, also where jobs take no time at all', () => {
    const prefetch = after([0], { atOnce: 1_000 });
    prefetch.noteSizes(ofBytes(1, 10) as never);

    expect(prefetch.size).toBe(1_000);
  });

  it('adapts: one slow job is enough to claim few, and it takes many short ones to claim many again', () => {
    const prefetch = after(times(50, 1));
    const [quick] = [prefetch.size];

    prefetch.note(60_000);
    const slow = prefetch.size;
    times(30, 1).forEach((ms) => prefetch.note(ms));
    const inBetween = prefetch.size;
    times(100, 1).forEach((ms) => prefetch.note(ms));

    expect(quick).toBeGreaterThanOrEqual(100);
    expect(slow).toBe(0);
    expect(inBetween).toBeLessThan(quick);
    expect(prefetch.size).toBe(quick);
  });

  it('is no more than begins within a tenth of the lease', () => {
    expect(after([5], { leaseMs: 1_000 }).size).toBe(after([5], { leaseMs: 60_000 }).size);
    expect(after([50], { leaseMs: 100 }).size).toBe(after([50]).size / 10);
  });

  it('is what the queue says, if it says so', () => {
    expect(after([], { prefetch: 7 }).size).toBe(7);
    expect(after(times(9, 0), { prefetch: 0 }).size).toBe(0);
    expect(after(times(9, 60_000), { prefetch: 900 }).size).toBe(900);
  });

  it('does not fill the memory where payloads are large', () => {
    const prefetch = after([0], { atOnce: 1_000 });

    prefetch.noteSizes(ofBytes(4, 1_000_000) as never);
    const large = [prefetch.largestClaim, prefetch.size];
    prefetch.noteSizes(ofBytes(1, 16_000_000) as never);
    const huge = [prefetch.largestClaim, prefetch.size];
    prefetch.noteSizes(ofBytes(100, 10) as never);

    expect(Math.max(...large)).toBeLessThanOrEqual(8);
    expect(huge).toEqual([1, 1]);
    expect(prefetch.size).toBe(1_000);
  });
});

describe('how many jobs may begin before the database is told of more', () => {
  it('is as many as can run at once, where nothing is known or jobs take their time', () => {
    expect(after([]).startedAhead).toBe(10);
    expect(after([1_000]).startedAhead).toBe(10);
    expect(after([], { atOnce: 500 }).startedAhead).toBe(500);
  });

  it('is more where jobs are short, up to what begins within some milliseconds', () => {
    expect(after([5]).startedAhead).toBe(50);
    expect(after([0]).startedAhead).toBe(500);
  });

  it.each([1, 2])('stays at what can run at once where a job has only %i attempts to lose', (attempts) => {
    expect(after(times(99, 0), { retry: attempts }).startedAhead).toBe(10);
  });
});
