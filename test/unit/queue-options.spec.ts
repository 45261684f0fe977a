import { overlay, queueOptionProblems, resolveQueueOptions, type QueueOptions } from '../../lib/job/queue-options.js';

describe('queue options', () => {
  it('have a default each', () => {
    expect(resolveQueueOptions()).toMatchObject({
      concurrency: 10,
      retry: { attempts: 5 },
      leaseMs: 30_000,
      timeoutMs: false,
      order: 'fifo',
      prefetch: 'auto',
      retention: { completedMs: 86_400_000, deadMs: 30 * 86_400_000 },
      paused: false,
      maxPayloadBytes: 1_048_576,
    });
  });

  it('have their default if they are undefined', () => {
    expect(resolveQueueOptions({ concurrency: undefined, lease: undefined }).concurrency).toBe(10);
  });

  it('accept a number of attempts as retry', () => {
    expect(resolveQueueOptions({ retry: 2 }).retry.attempts).toBe(2);
  });

  it('may turn retention off', () => {
    expect(resolveQueueOptions({ retention: { completed: false } }).retention).toMatchObject({ completedMs: false });
  });

  it('override those of a lower layer one by one', () => {
    const lower: QueueOptions = {
      concurrency: 1,
      lease: '1m',
      retry: { attempts: 2, backoff: '1s' },
      retention: { dead: '2d' },
    };

    const laid = overlay(lower, {
      concurrency: 5,
      lease: undefined,
      retry: 7,
      retention: { completed: '1h' },
    } as never);

    expect(laid).toMatchObject({ concurrency: 5, lease: '1m', retry: { attempts: 7, backoff: '1s' } });
    expect(laid.retention).toEqual({ dead: '2d', completed: '1h' });
  });

  it('have a burst of a tenth of the rate unless it is set', () => {
    const ratesOf = (rate: QueueOptions['rate']) => resolveQueueOptions({ rate }).limits.rate;

    expect(ratesOf({ limit: 200, per: '1s' })).toEqual({ limit: 200, perMs: 1_000, burst: 20, window: 'sliding' });
    expect(ratesOf({ limit: 5, per: '1m' })).toMatchObject({ burst: 1 });
    expect(ratesOf({ limit: 5, per: '1m', burst: 5 })).toMatchObject({ burst: 5 });
    expect(ratesOf(false)).toBeNull();
    expect(resolveQueueOptions({ maxRunning: 3 }).limits).toEqual({ maxRunning: 3, rate: null });
  });

  it.each([
    [{ maxRunning: 0 }, 'expected maxRunning to be false or a whole number from 1 to 1000000, got 0'],
    [{ rate: 5 }, 'expected rate to be false or { limit, per, burst?, window? }, got 5'],
    [{ rate: { per: '1s' } }, 'expected rate.limit to be set, got undefined'],
    [{ rate: { limit: 5 } }, 'expected rate.per to be set, got undefined'],
    [{ rate: { limit: 5, per: '1ms' } }, `expected rate.per to be a duration from '10ms' to '366d', got "1ms"`],
    [{ rate: { limit: 5, per: '1s', burst: 6 } }, 'expected rate.burst to be at most rate.limit, got 6'],
    [
      { rate: { limit: 5, per: '1d', burst: 2, window: 'fixed' } },
      `expected rate.burst to be unset with window: 'fixed', got 2`,
    ],
    [{ rate: { limit: 5, per: '1s', every: 1 } }, 'unknown option "every" (known: limit, per, burst, window)'],
  ])('reject limits %j', (given, problem) => {
    expect(queueOptionProblems(given)).toEqual([problem]);
  });

  it('have no problems if they are valid', () => {
    const given: QueueOptions = {
      concurrency: 1,
      retry: { backoff: { type: 'fixed' } },
      timeout: '1m',
      prefetch: 0,
      claim: 'auto',
    };

    expect(queueOptionProblems(given)).toEqual([]);
    expect(queueOptionProblems({})).toEqual([]);
  });

  it('report all their problems at once, each with the expectation and the value', () => {
    const given = {
      concurrency: 0,
      lease: '1 h',
      timeout: 0,
      order: 'random',
      retention: { dead: -1 },
      retry: { attempts: 1.5 },
    };

    const problems = queueOptionProblems(given);

    expect(problems).toHaveLength(6);
    for (const problem of problems) expect(problem).toMatch(/^expected .+, got .+/);
    expect(problems[0]).toBe('expected concurrency to be a whole number from 1 to 10000, got 0');
  });

  it('suggest the nearest known name for an unknown one', () => {
    expect(queueOptionProblems({ leese: '30s' })).toEqual(['unknown option "leese", did you mean "lease"?']);
    expect(queueOptionProblems({ retry: { atempts: 3 } })).toEqual([
      'unknown option "atempts", did you mean "attempts"?',
    ]);
    expect(queueOptionProblems({ retry: { backoff: { jiter: 1 } } })).toEqual([
      'unknown option "jiter", did you mean "jitter"?',
    ]);
  });

  it('list all known names for an unknown one without a near match', () => {
    expect(queueOptionProblems({ xyzzyxyzzy: 1 })[0]).toMatch(
      /^unknown option "xyzzyxyzzy" \(known: concurrency, retry, .+\)$/,
    );
  });

  it.each([null, 7, 'text'])('may not be %o', (given) => {
    expect(queueOptionProblems(given)).toHaveLength(1);
  });
});
