import { toMs } from '../../lib/common/units.js';

describe('a duration', () => {
  it.each([
    [0, 0],
    [1.4, 1],
    ['500ms', 500],
    ['30s', 30_000],
    ['1.5m', 90_000],
    ['2h', 7_200_000],
    ['7d', 604_800_000],
  ])('given as %o is %i milliseconds', (given, ms) => {
    expect(toMs(given)).toBe(ms);
  });

  it.each([
    '',
    '30',
    '30 s',
    's',
    '-1s',
    '1e3s',
    '5 min',
    '1h30m',
    -1,
    NaN,
    Infinity,
    null,
    undefined,
    {},
    1n,
    '101000d',
  ])('may not be %o', (given) => {
    expect(toMs(given)).toBeUndefined();
  });
});
