import { findViolations, type FinishedJob } from './history-checker.js';
import type { JournalEntry } from './journal.js';

const done: FinishedJob = { id: 1, state: 'completed', attempt: 1 };

/** Parses lines such as 'a begin 1': process, kind, attempt. */
function history(...lines: string[]): JournalEntry[] {
  return lines.map((line, at) => {
    const [by, kind, attempt] = line.split(' ');
    return { by: by!, kind: kind as JournalEntry['kind'], job: 1, attempt: Number(attempt ?? 0), at };
  });
}

const lost = ['p enqueued', 'b begin 1', 'b end 1', 'b lost 1'];
const once = ['p enqueued', 'a begin 1', 'a end 1', 'a completed 1'];

describe('the history checker', () => {
  it.each([
    ['one run', once, done],
    [
      'a retry',
      ['p enqueued', 'a begin 1', 'a end 1', 'b begin 2', 'b end 2', 'b completed 2'],
      { ...done, attempt: 2 },
    ],
    ['a killed worker', ['a begin 1', 'a died', 'b begin 2', 'b end 2', 'b completed 2'], { ...done, attempt: 2 }],
    [
      'a handler that runs on after its timeout',
      ['a begin 1', 'a failed 1', 'b begin 2', 'a end 1', 'b end 2', 'b completed 2'],
      { ...done, attempt: 2 },
    ],
    [
      'a lost lease',
      ['a begin 1', 'b begin 2', 'b end 2', 'b completed 2', 'a end 1', 'a lost 1'],
      { ...done, attempt: 2 },
    ],
  ])('accepts %s', (_, lines, finished) => {
    expect(findViolations(history(...lines), [finished])).toEqual([]);
  });

  describe('for a worker that learns the outcome of its attempt while the next attempt runs', () => {
    const lines = ['a begin 1', 'b begin 2', 'a failed 1', 'b end 2', 'b completed 2', 'a end 1'];
    const finished = { ...done, attempt: 2 };

    it('reports nothing if the database had committed the timeout of that attempt', () => {
      expect(findViolations(history(...lines), [finished], [{ job: 1, attempt: 1 }])).toEqual([]);
    });

    it.each([
      ['no timeout', []],
      ['a timeout of the next attempt', [{ job: 1, attempt: 2 }]],
      ['a timeout of another job', [{ job: 2, attempt: 1 }]],
    ])('reports two overlapping runs if the database had committed %s', (_, timedOut) => {
      expect(findViolations(history(...lines), [finished], timedOut).join()).toContain('ran twice at a time');
    });
  });

  it('reports two runs of one attempt even if the database has committed a timeout', () => {
    const lines = ['a begin 1', 'b begin 1', 'a failed 1', 'b end 1', 'b completed 1', 'a end 1'];

    expect(findViolations(history(...lines), [done], [{ job: 1, attempt: 1 }]).join()).toContain('ran twice at a time');
  });

  it.each(['scheduled', 'cancelled'])('reports nothing for a released job that is %s without another run', (state) => {
    const given = history('p enqueued', 'a begin 1', 'a end 1', 'a snoozed 1');

    expect(findViolations(given, [{ id: 1, state, attempt: 0 }])).toEqual([]);
  });

  it('reports nothing for a job that releases itself and runs again in one attempt', () => {
    expect(findViolations(history(...lost, ...once), [{ ...done, kind: 'releases' }])).toEqual([]);
  });

  it.each([
    ['was lost', ['p enqueued'], []],
    ['came from nowhere', [], [done]],
    ['was completed 2 times', [...once, 'b completed 1'], [done]],
    ['ran again after it had completed', [...once, 'b begin 2', 'b end 2'], [{ ...done, attempt: 2 }]],
    [
      'was completed by a run whose lease had been taken',
      ['a begin 1', 'a end 1', 'b begin 2', 'b end 2', 'b lost 2', 'a completed 1'],
      [{ ...done, attempt: 2 }],
    ],
    ['ran twice at a time', ['a begin 1', 'b begin 2', 'a end 1', 'b end 2'], [{ ...done, attempt: 2 }]],
    ['ran twice in one attempt', ['a begin 1', 'a end 1', 'b begin 1', 'b end 1'], [done]],
    ['ran twice in one attempt', [...lost, ...once], [{ ...done, kind: 'plain' }]],
    ['used more attempts than were counted', ['a begin 2', 'a end 2'], [done]],
    ['was completed, and is dead', once, [{ ...done, state: 'dead' }]],
  ])('reports that a job %s', (problem, lines, finished) => {
    expect(findViolations(history(...lines), finished).join()).toContain(problem);
  });
});
