import { resolveEnqueueOptions } from '../../lib/job/enqueue-options.js';
import type { InvalidOptionsError } from '../../lib/job/errors.js';
import { decideKey, isHeld, type KeyHolder } from '../../lib/job/key-decision.js';
import { keepWithKey } from '../../lib/job/job-key.js';

const WAITING = { isIdle: true, attempt: 0 };
const RETRIED = { isIdle: true, attempt: 1 };
const ACTIVE = { isIdle: false, attempt: 1 };
const HELD: KeyHolder = { until: 'finished', hasTime: false, job: WAITING };

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
  ] as const)('until %s with the job %j is held: %s', (until, job, held) => {
    expect(isHeld({ until, hasTime: false, job })).toBe(held);
  });

  it('held for a time is so whatever became of the job', () => {
    expect([undefined, ACTIVE].map((job) => isHeld({ until: 'time', hasTime: true, job }))).toEqual([true, true]);
    expect([undefined, ACTIVE].map((job) => isHeld({ until: 'time', hasTime: false, job }))).toEqual([false, false]);
  });

  it.each([
    ['return', 'join'],
    ['coalesce', 'join'],
    ['reject', 'refuse'],
    ['replace', 'replace'],
  ] as const)('that is held by a waiting job decides for %s: %s', (onConflict, decision) => {
    expect(decideKey(HELD, onConflict)).toBe(decision);
    expect(decideKey({ ...HELD, job: undefined }, onConflict)).toBe('put');
  });

  it.each([ACTIVE, undefined])('gives no place away that is not a waiting one (%j)', (job) => {
    expect(decideKey({ until: 'time', hasTime: true, job }, 'replace')).toBe('refuse');
  });

  it('keeps a job in the history for ten minutes, on top of the time it is held', () => {
    expect(keepWithKey(null, false)).toBe(false);
    expect(keepWithKey({ key: 'k', keyUntil: 'finished' }, false)).toBe(600_000);
    expect(keepWithKey({ key: 'k', keyUntil: 60_000 }, 1)).toBe(660_000);
    expect(keepWithKey({ key: 'k', keyUntil: 'started' }, 9e9)).toBe(9e9);
  });

  it('is told all that is wrong with it at once', () => {
    expect(problemsOf({ key: '', onConflict: 'merge', keyUntil: 'soon' })).toEqual([
      'expected key to be a text of 1 to 255 characters, got ""',
      `expected onConflict to be 'return', 'reject', 'replace' or 'coalesce', got "merge"`,
      expect.stringContaining(`expected keyUntil to be 'started', 'finished' or a duration`),
    ]);
    expect(problemsOf({ onConflict: 'reject', keyUntil: '1s' })).toEqual([
      'expected key beside onConflict, got none',
      'expected key beside keyUntil, got none',
    ]);
  });

  it.each([7, null, {}, 'x'.repeat(256), '\ud800', '🔑'.repeat(256)])('is refused where it is no text (%j)', (key) => {
    expect(problemsOf({ key })).toHaveLength(1);
  });

  it.each([0, -1, NaN, '0s', null, new Date()])('is not held for %j', (keyUntil) => {
    expect(problemsOf({ key: 'k', keyUntil })).toHaveLength(1);
  });
});
