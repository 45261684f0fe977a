import { resolveWorkerOptions, workerOptionProblems } from '../../lib/runtime/worker-options.js';

describe('the options of a worker', () => {
  it('have the doorbell on, and a poll every two seconds at the latest, where nothing is said', () => {
    const resolved = resolveWorkerOptions();

    expect(resolved).toMatchObject({ doorbell: true, pollMinMs: 100, pollMaxMs: 2_000 });
  });

  it('turn the doorbell off', () => {
    expect(resolveWorkerOptions({ doorbell: false })).toMatchObject({ doorbell: false });
    expect(resolveWorkerOptions({ doorbell: 'auto' })).toMatchObject({ doorbell: true });
  });

  it.each([['on'], [true], [null], [0]])('refuse %j for the doorbell', (doorbell) => {
    expect(workerOptionProblems({ doorbell })).toEqual([
      `expected doorbell to be 'auto' or false, got ${JSON.stringify(doorbell)}`,
    ]);
  });

  it('ask whether the doorbell was meant', () => {
    expect(workerOptionProblems({ dorbell: false })).toEqual(['unknown option "dorbell", did you mean "doorbell"?']);
  });
});
