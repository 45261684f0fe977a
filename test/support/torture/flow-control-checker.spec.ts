import { findFlowControlViolations } from './flow-control-checker.js';

describe('the checker of steps and schedules', () => {
  it('finds nothing wrong in a correct run', () => {
    const found = findFlowControlViolations({
      ...{
        stepEffects: ['a', 'b', 'c'],
        completedWithSteps: ['a', 'b'],
        ticks: ticks([250, 0], [0, 0], [500, 0], [90_000, 59_900]),
      },
    });

    expect(found).toEqual([]);
  });

  it('finds steps that were committed twice or never, and ticks with two jobs or none', () => {
    const found = findFlowControlViolations({
      ...{
        stepEffects: ['a', 'a'],
        completedWithSteps: ['a', 'b'],
        ticks: ticks([0, 0], [250, 0], [250, 0], [1_000, 9_000]),
      },
    });

    expect(found).toEqual([
      'a step of job a was committed 2 times',
      'job b was completed without its step',
      'two jobs for the tick at 250',
      'no job for a tick in the 750 ms before 1000',
    ]);
  });
});

function ticks(...given: [at: number, lateMs: number][]) {
  return given.map(([at, lateMs]) => ({ at, enqueuedAt: at + lateMs }));
}
