import { resolveQueueOptions, type QueueOptions } from '../../lib/job/queue-options.js';
import { JobAverages, maxClaimSize, prefetchSize, startAheadLimit } from '../../lib/worker/queue/plan.js';

/** Returns the limits after runs with these durations in milliseconds. */
function after(ranMs: number[], given: QueueOptions & { maxRunning?: number; leaseMs?: number } = {}) {
  const { maxRunning = 10, leaseMs, ...queueOptions } = given;
  const resolved = resolveQueueOptions(queueOptions);
  const options = { ...resolved, leaseMs: leaseMs ?? resolved.leaseMs };
  const averages = new JobAverages();
  for (const ms of ranMs) averages.recordRunTime(ms);
  const gate = { isLimited: false, opensAt: Infinity };
  const state = { options, averages, gate, maxBatchSize: 1, slots: { limit: maxRunning } };
  return {
    recordRunTime: (ms: number) => averages.recordRunTime(ms),
    recordPayloadSizes: (jobs: never) => averages.recordPayloadSizes(jobs),
    get size() {
      return prefetchSize(state);
    },
    get maxClaimSize() {
      return maxClaimSize(state);
    },
    get startAheadLimit() {
      return startAheadLimit(state);
    },
  };
}

const times = (count: number, ms: number) => Array.from({ length: count }, () => ms);
const ofBytes = (count: number, bytes: number) => Array.from({ length: count }, () => ({ payload: 'x'.repeat(bytes) }));

describe('the size of the prefetch', () => {
  it('is zero before the first run', () => {
    expect(after([]).size).toBe(0);
  });

  it.each([
    [5_000, 0],
    [1_001, 0],
    [1_000, 1],
    [100, 10],
    [20, 50],
  ])('equals the jobs that ten slots start within 100 ms, for jobs of %i ms: %i', (ms, size) => {
    expect(after([ms]).size).toBe(size);
  });

  it('is limited even for jobs that take no time', () => {
    const prefetch = after([0], { maxRunning: 1_000 });
    prefetch.recordPayloadSizes(ofBytes(1, 10) as never);

    expect(prefetch.size).toBe(1_000);
  });

  it('falls after one slow job, and rises again after many short ones', () => {
    const prefetch = after(times(50, 1));
    const [quick] = [prefetch.size];

    prefetch.recordRunTime(60_000);
    const slow = prefetch.size;
    times(30, 1).forEach((ms) => prefetch.recordRunTime(ms));
    const inBetween = prefetch.size;
    times(100, 1).forEach((ms) => prefetch.recordRunTime(ms));

    expect(quick).toBeGreaterThanOrEqual(100);
    expect(slow).toBe(0);
    expect(inBetween).toBeLessThan(quick);
    expect(prefetch.size).toBe(quick);
  });

  it('is at most the number of jobs that start within a tenth of the lease', () => {
    expect(after([5], { leaseMs: 1_000 }).size).toBe(after([5], { leaseMs: 60_000 }).size);
    expect(after([50], { leaseMs: 100 }).size).toBe(after([50]).size / 10);
  });

  it('is the number of the queue option, if it is set', () => {
    expect(after([], { prefetch: 7 }).size).toBe(7);
    expect(after(times(9, 0), { prefetch: 0 }).size).toBe(0);
    expect(after(times(9, 60_000), { prefetch: 900 }).size).toBe(900);
  });

  it('is limited by the memory for large payloads', () => {
    const prefetch = after([0], { maxRunning: 1_000 });

    prefetch.recordPayloadSizes(ofBytes(4, 1_000_000) as never);
    const large = [prefetch.maxClaimSize, prefetch.size];
    prefetch.recordPayloadSizes(ofBytes(1, 16_000_000) as never);
    const huge = [prefetch.maxClaimSize, prefetch.size];
    prefetch.recordPayloadSizes(ofBytes(100, 10) as never);

    expect(Math.max(...large)).toBeLessThanOrEqual(8);
    expect(huge).toEqual([1, 1]);
    expect(prefetch.size).toBe(1_000);
  });
});

describe('the number of jobs that may start before the next report to the database', () => {
  it('is the number of slots if jobs are slow or their duration is unknown', () => {
    expect(after([]).startAheadLimit).toBe(10);
    expect(after([1_000]).startAheadLimit).toBe(10);
    expect(after([], { maxRunning: 500 }).startAheadLimit).toBe(500);
  });

  it('grows for short jobs to the number that starts within some milliseconds', () => {
    expect(after([5]).startAheadLimit).toBe(50);
    expect(after([0]).startAheadLimit).toBe(500);
  });

  it.each([1, 2])('stays at the number of slots if a job has only %i attempts', (attempts) => {
    expect(after(times(99, 0), { retry: attempts }).startAheadLimit).toBe(10);
  });
});
