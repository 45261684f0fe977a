import { violations, type Finished } from './history-checker.js';
import type { Entry } from './journal.js';

const done: Finished = { id: 1, state: 'completed', attempt: 1 };

/** Lines such as 'a begin 1': who, what, in which attempt. */
function history(...lines: string[]): Entry[] {
  return lines.map((line, at) => {
    const [by, kind, attempt] = line.split(' ');
    return { by: by!, kind: kind as Entry['kind'], job: 1, attempt: Number(attempt ?? 0), at };
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
      'a handler that goes on after its timeout',
      ['a begin 1', 'a failed 1', 'b begin 2', 'a end 1', 'b end 2', 'b completed 2'],
      { ...done, attempt: 2 },
    ],
    [
      'a lost lease',
      ['a begin 1', 'b begin 2', 'b end 2', 'b completed 2', 'a end 1', 'a lost 1'],
      { ...done, attempt: 2 },
    ],
  ])('is content with %s', (_, lines, finished) => {
    expect(violations(history(...lines), [finished])).toEqual([]);
  });

  describe('if a worker hears of its attempt’s outcome when the next attempt runs', () => {
    const lines = ['a begin 1', 'b begin 2', 'a failed 1', 'b end 2', 'b completed 2', 'a end 1'];
    const finished = { ...done, attempt: 2 };

    it('finds nothing if the database had committed that attempt’s timeout', () => {
      expect(violations(history(...lines), [finished], [{ job: 1, attempt: 1 }])).toEqual([]);
    });

    it.each([
      ['no timeout', []],
      ['a timeout of the next attempt', [{ job: 1, attempt: 2 }]],
      ['a timeout of another job', [{ job: 2, attempt: 1 }]],
    ])('finds that the job ran twice at a time if the database had committed %s', (_, timedOut) => {
      expect(violations(history(...lines), [finished], timedOut).join()).toContain('ran twice at a time');
    });
  });

  it('finds two runs of one attempt, whatever the database has committed', () => {
    const lines = ['a begin 1', 'b begin 1', 'a failed 1', 'b end 1', 'b completed 1', 'a end 1'];

    expect(violations(history(...lines), [done], [{ job: 1, attempt: 1 }]).join()).toContain('ran twice at a time');
  });

  it('finds nothing where a job was given back and has not been run again', () => {
    const given = history('p enqueued', 'a begin 1', 'a end 1', 'a snoozed 1');

    expect(violations(given, [{ id: 1, state: 'scheduled', attempt: 0 }])).toEqual([]);
  });

  it('finds nothing where a job that gives itself back runs again in one attempt, whatever its worker was told', () => {
    expect(violations(history(...lost, ...once), [{ ...done, kind: 'releases' }])).toEqual([]);
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
  ])('finds that a job %s', (problem, lines, finished) => {
    expect(violations(history(...lines), finished).join()).toContain(problem);
  });
});
