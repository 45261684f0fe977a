import { resolveWorkerOptions, workerOptionProblems, type WorkerOptions } from '../../lib/worker/worker-options.js';

describe('the options of a worker', () => {
  it('enable notifications and poll at most every two seconds by default', () => {
    const resolved = resolveWorkerOptions();

    expect(resolved).toMatchObject({ usesNotifications: true, pollMinMs: 100, pollMaxMs: 2_000 });
  });

  it.each<[NonNullable<WorkerOptions['poll']>, number, number]>([
    [{ min: '5s' }, 5_000, 5_000],
    [{ max: '50ms' }, 50, 50],
    [{ max: '10s' }, 100, 10_000],
    [{ min: '5s', max: '10s' }, 5_000, 10_000],
  ])('poll as %j says, also beyond the default of the other end', (poll, pollMinMs, pollMaxMs) => {
    expect(resolveWorkerOptions({ poll })).toMatchObject({ pollMinMs, pollMaxMs });
  });

  it('turn notifications off', () => {
    expect(resolveWorkerOptions({ notify: false })).toMatchObject({ usesNotifications: false });
    expect(resolveWorkerOptions({ notify: 'auto' })).toMatchObject({ usesNotifications: true });
  });

  it.each([['on'], [true], [null], [0]])('reject %j for notify', (notify) => {
    expect(workerOptionProblems({ notify })).toEqual([
      `expected notify to be 'auto' or false, got ${JSON.stringify(notify)}`,
    ]);
  });

  it('suggest notify for a misspelt name', () => {
    expect(workerOptionProblems({ notfy: false })).toEqual(['unknown option "notfy", did you mean "notify"?']);
  });
});
