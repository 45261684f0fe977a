import type { Entry } from '../journal.js';
import { calmViolations } from './calm-checker.js';

/** Lines such as 'a lost 1': who, what, which job. */
function entries(...lines: string[]): Entry[] {
  return lines.map((line, at) => {
    const [by, kind, job] = line.split(' ');
    return { by: by!, kind: kind as Entry['kind'], job: Number(job ?? 0), attempt: 1, at };
  });
}

describe('the checker of the calm before the first fault', () => {
  it('finds a job that was taken from a worker before anything was broken', () => {
    const taken = entries('a begin 1', 'b rescued 1', 'a end 1', 'a lost 1', 'nemesis broken');

    expect(calmViolations(taken, new Set([1]))).toEqual([
      'b took job 1 from its worker in attempt 1, though nothing was broken',
    ]);
  });

  it.each([
    ['a job that was taken after something broke', ['a begin 1', 'nemesis broken', 'b rescued 1']],
    // Its own transaction completed it after its time was over.
    ['one that was lost to nobody', ['a begin 1', 'a end 1', 'a lost 1', 'nemesis broken']],
    ['one whose lease may have lapsed', ['a begin 2', 'b rescued 2', 'nemesis broken']],
  ])('is content with %s', (_, lines) => {
    expect(calmViolations(entries(...lines), new Set([1]))).toEqual([]);
  });
});
