import { NO_ENQUEUE_OPTIONS, resolveEnqueueOptions, type EnqueueOptions } from '../../lib/job/enqueue-options.js';
import type { InvalidOptionsError } from '../../lib/job/errors.js';

function problemsOf(given: unknown): readonly string[] {
  try {
    resolveEnqueueOptions('q', given as never);
  } catch (error) {
    return (error as InvalidOptionsError).problems;
  }
  return [];
}

describe('the options of a job', () => {
  it('resolve to the defaults of the queue if they are empty', () => {
    const plain = {
      name: 'default',
      delayMs: null,
      runAtMs: null,
      priority: 0,
      attempts: null,
      overrides: null,
      headers: null,
    };

    expect(NO_ENQUEUE_OPTIONS).toEqual(plain);
    expect(resolveEnqueueOptions('q', { headers: {}, delay: 0 })).toEqual(plain);
  });

  it('are resolved to milliseconds', () => {
    const runAt = new Date(5_000);

    expect(resolveEnqueueOptions('q', { delay: '1m' })).toMatchObject({ delayMs: 60_000, runAtMs: null });
    expect(resolveEnqueueOptions('q', { runAt })).toMatchObject({ delayMs: null, runAtMs: 5_000 });
    expect(resolveEnqueueOptions('q', { timeout: '2s', retry: { backoff: '3s' } }).overrides).toEqual({
      timeoutMs: 2_000,
      backoff: '3s',
    });
  });

  it('have a retention for both ends, or for each', () => {
    const retentionOf = (retention: EnqueueOptions['retention']) =>
      resolveEnqueueOptions('q', { retention }).overrides?.retention;

    expect(retentionOf('1h')).toEqual({ completedMs: 3_600_000, deadMs: 3_600_000 });
    expect(retentionOf(false)).toEqual({ completedMs: false, deadMs: false });
    expect(retentionOf({ dead: '1m' })).toEqual({ deadMs: 60_000 });
    expect(retentionOf(undefined)).toBeUndefined();
  });

  it.each([
    [{ expiresIn: 0 }, 'expected expiresIn to be a duration'],
    [{ expiresIn: '1m', delay: '2m' }, 'expected expiresIn to be longer than delay, got "1m"'],
    [{ lease: '1ms' }, `expected lease to be a duration from '1s' to '1d', got "1ms"`],
    [{ retention: 'long' }, 'expected retention to be false, a duration'],
    [{ retention: { completed: 'long' } }, 'expected retention.completed to be false or a duration'],
    [{ retention: { done: '1d' } }, 'unknown option "done"'],
  ])('reject %j', (given, problem) => {
    expect(problemsOf(given)).toEqual([expect.stringContaining(problem)]);
  });

  it('report all their problems at once', () => {
    const given = {
      name: 'a b',
      delay: 'x',
      priority: 40_000,
      retry: 0,
      timeout: 0,
      headers: { ok: 1 },
      prioritty: 1,
    };

    expect(problemsOf(given)).toHaveLength(7);
    expect(problemsOf(given)).toContain('unknown option "prioritty", did you mean "priority"?');
  });

  it.each([
    [{ delay: 1, runAt: new Date(0) }, 'expected either delay or runAt, got both'],
    [{ runAt: new Date(NaN) }, 'expected runAt to be a Date between 1970 and 9999, got Date(invalid)'],
    [{ headers: [] }, 'expected headers to be an object of texts, got []'],
    [
      { headers: { 'a b': 'x' } },
      'expected header name to be 1 to 100 of the characters A-Z a-z 0-9 . _ : -, got "a b"',
    ],
    [null, 'expected options to be an object, got null'],
  ])('reject %j', (given, problem) => {
    expect(problemsOf(given)).toEqual([problem]);
  });

  it.each([[{ backoff: () => 1 }], [{ retryIf: () => true }]])(
    'reject functions in retry, which a row cannot store',
    (retry) => {
      expect(problemsOf({ retry })[0]).toMatch(/a function can only stand in the options of the queue/);
    },
  );

  it('accept retry as a number of attempts or as options, like those of a queue', () => {
    expect(resolveEnqueueOptions('q', { retry: 3 })).toMatchObject({ attempts: 3, overrides: null });
    expect(resolveEnqueueOptions('q', { retry: { attempts: 3, backoff: 10 } })).toMatchObject({
      attempts: 3,
      overrides: { backoff: 10 },
    });
    expect(problemsOf({ retry: { attempts: 0, backof: 1 } })).toHaveLength(2);
  });

  it('may have the extra fields that the caller names', () => {
    expect(resolveEnqueueOptions('q', { manager: {} } as never, ['manager']).name).toBe('default');
    expect(problemsOf({ manager: {} })).toHaveLength(1);
  });
});
