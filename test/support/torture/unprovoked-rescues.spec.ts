import type { JournalEntry } from '../journal.js';
import { findUnprovokedRescues } from './unprovoked-rescues.js';

/** Parses lines such as 'a lost 1': process, kind, job. */
function entries(...lines: string[]): JournalEntry[] {
  return lines.map((line, at) => {
    const [by, kind, job] = line.split(' ');
    return { by: by!, kind: kind as JournalEntry['kind'], job: Number(job ?? 0), attempt: 1, at };
  });
}

describe('the checker of the time before the first fault', () => {
  it('reports a job that another worker rescued before the first fault', () => {
    const taken = entries('a begin 1', 'b rescued 1', 'a end 1', 'a lost 1', 'nemesis broken');

    expect(findUnprovokedRescues(taken, new Set([1]))).toEqual([
      'b took job 1 from its worker in attempt 1, though nothing was broken',
    ]);
  });

  it.each([
    ['a job rescued after the first fault', ['a begin 1', 'nemesis broken', 'b rescued 1']],
    // Its own transaction completed it after its lease had expired.
    ['a lost job without a rescue', ['a begin 1', 'a end 1', 'a lost 1', 'nemesis broken']],
    ['a job with a possibly expired lease', ['a begin 2', 'b rescued 2', 'nemesis broken']],
  ])('accepts %s', (_, lines) => {
    expect(findUnprovokedRescues(entries(...lines), new Set([1]))).toEqual([]);
  });
});
