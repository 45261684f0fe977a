import { resolveBackoff, type Backoff } from '../../lib/job/backoff.js';
import { claimedJob, ruleParts } from '../support/jobs.js';

const error = new Error('no');
const middle = () => 0.5;

function delays(backoff: Backoff, random = middle): unknown[] {
  const ms = resolveBackoff(backoff);
  return [1, 2, 3, 60].map((attempt) => ms(claimedJob({ attempt }), error, ruleParts({ random })));
}

describe('a backoff', () => {
  it('doubles from a second up to ten minutes by default', () => {
    expect(delays({})).toEqual([1_000, 2_000, 4_000, 600_000]);
  });

  it.each([0, 0.5, 1])('is always `delay` if it is fixed and without jitter (random number %o)', (chance) => {
    expect(delays({ type: 'fixed', delay: '5s' }, () => chance)).toEqual([5_000, 5_000, 5_000, 5_000]);
    expect(delays({ type: 'fixed' }, () => chance)).toEqual([1_000, 1_000, 1_000, 1_000]);
    expect(delays('5s', () => chance)).toEqual([5_000, 5_000, 5_000, 5_000]);
  });

  it('varies randomly by at most its jitter, either way', () => {
    expect(delays({ delay: 1_000, jitter: 0.2 }, () => 0)[0]).toBe(800);
    expect(delays({ delay: 1_000, jitter: 0.2 }, () => 1)[0]).toBe(1_200);
    expect(delays({ type: 'fixed', delay: 1_000, jitter: 1 }, () => 0)[0]).toBe(0);
  });

  it('never exceeds its maximum, for any random number', () => {
    expect(delays({ delay: '1s', max: '3s', jitter: 1 }, () => 1)).toEqual([2_000, 3_000, 3_000, 3_000]);
  });

  it('stays a number after any number of attempts', () => {
    expect(resolveBackoff({ max: '1d' })(claimedJob({ attempt: 1_000_000 }), error, ruleParts())).toBe(86_400_000);
  });

  it('may be a function of the attempt and the error', () => {
    expect(delays((attempt, { message }) => (message === 'no' ? attempt * 10 : 0))).toEqual([10, 20, 30, 600]);
  });

  it('ends the retries if the function returns false', () => {
    expect(delays(() => false)).toEqual([false, false, false, false]);
  });

  it('is the default if the function returns an invalid value or throws', () => {
    const nonsense = [() => 'soon', () => NaN, () => undefined, () => -1] as unknown as Backoff[];
    const throws = () => {
      throw new Error('bug');
    };

    for (const backoff of [...nonsense, throws]) expect(delays(backoff)).toEqual(delays({}));
  });
});
