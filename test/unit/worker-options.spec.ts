import { resolveWorkerOptions, workerOptionProblems } from '../../lib/worker/worker-options.js';

describe('the options of a worker', () => {
  it('enable notifications and poll at most every two seconds by default', () => {
    const resolved = resolveWorkerOptions();

    expect(resolved).toMatchObject({ usesNotifications: true, pollMinMs: 100, pollMaxMs: 2_000 });
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
