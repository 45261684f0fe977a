import { resolveEnqueueOptions } from '../../lib/job/enqueue-options.js';
import type { InvalidOptionsError } from '../../lib/job/errors.js';
import { decideKey, isKeyTaken, type KeyOwner } from '../../lib/job/job-key.js';
import { jobRetentionMs } from '../../lib/job/outcome.js';

const WAITING = { isUnclaimed: true, attempt: 0 };
const RETRIED = { isUnclaimed: true, attempt: 1 };
const ACTIVE = { isUnclaimed: false, attempt: 1 };
const OWNED: KeyOwner = { until: 'finished', hasTime: false, job: WAITING };

function problemsOf(given: object): readonly string[] {
  try {
    resolveEnqueueOptions('q', given);
  } catch (error) {
    return (error as InvalidOptionsError).problems;
  }
  return [];
}

describe('a key', () => {
  it.each([
    ['finished', WAITING, true],
    ['finished', RETRIED, true],
    ['finished', ACTIVE, true],
    ['finished', undefined, false],
    ['started', WAITING, true],
    ['started', RETRIED, false],
    ['started', ACTIVE, false],
    ['started', undefined, false],
  ] as const)('is owned until %s with the job %j: %s', (until, job, held) => {
    expect(isKeyTaken({ until, hasTime: false, job })).toBe(held);
  });

  it('is owned for its duration in any state of the job', () => {
    expect([undefined, ACTIVE].map((job) => isKeyTaken({ until: 'time', hasTime: true, job }))).toEqual([true, true]);
    expect([undefined, ACTIVE].map((job) => isKeyTaken({ until: 'time', hasTime: false, job }))).toEqual([
      false,
      false,
    ]);
  });

  it.each([
    ['return', 'join'],
    ['coalesce', 'join'],
    ['reject', 'refuse'],
    ['replace', 'replace'],
  ] as const)('decides for %s if a waiting job owns it: %s', (onConflict, decision) => {
    expect(decideKey(OWNED, onConflict)).toBe(decision);
    expect(decideKey({ ...OWNED, job: undefined }, onConflict)).toBe('put');
  });

  it.each([ACTIVE, undefined])('is replaced only in a waiting job (%j)', (job) => {
    expect(decideKey({ until: 'time', hasTime: true, job }, 'replace')).toBe('refuse');
  });

  it('retains a job in the history for ten minutes beyond its time', () => {
    expect(jobRetentionMs(null, true, false)).toBe(false);
    expect(jobRetentionMs({ key: 'k', keyUntil: 'finished' }, true, false)).toBe(600_000);
    expect(jobRetentionMs({ key: 'k', keyUntil: 60_000 }, true, 1)).toBe(660_000);
    expect(jobRetentionMs({ key: 'k', keyUntil: 'started' }, true, 9e9)).toBe(9e9);
  });

  it('reports all problems of its options at once', () => {
    expect(problemsOf({ key: '', onConflict: 'merge', keyUntil: 'soon' })).toEqual([
      'expected key to be a text of 1 to 255 characters, got ""',
      `expected onConflict to be 'return', 'reject', 'replace', 'coalesce' or 'after', got "merge"`,
      expect.stringContaining(`expected keyUntil to be 'started', 'finished' or a duration`),
    ]);
    expect(problemsOf({ onConflict: 'reject', keyUntil: '1s' })).toEqual([
      'expected key beside onConflict, got none',
      'expected key beside keyUntil, got none',
    ]);
  });

  it.each([7, null, {}, 'x'.repeat(256), '\ud800', '🔑'.repeat(256)])(
    'is rejected if it is not a valid text (%j)',
    (key) => {
      expect(problemsOf({ key })).toHaveLength(1);
    },
  );

  it.each([0, -1, NaN, '0s', null, new Date()])('rejects the duration %j', (keyUntil) => {
    expect(problemsOf({ key: 'k', keyUntil })).toHaveLength(1);
  });
});
