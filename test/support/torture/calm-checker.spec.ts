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
    const taken = entries('a begin 1', 'a end 1', 'a lost 1', 'nemesis broken');

    expect(calmViolations(taken, new Set([1]))).toEqual([
      'job 1 was taken from a in attempt 1, though nothing was broken',
    ]);
  });

  it.each([
    ['a job that was lost after something broke', ['a begin 1', 'nemesis broken', 'a lost 1']],
    ['one whose lease may have lapsed', ['a begin 2', 'a lost 2', 'nemesis broken']],
  ])('is content with %s', (_, lines) => {
    expect(calmViolations(entries(...lines), new Set([1]))).toEqual([]);
  });
});
