import { isEnabled, isEnabledAt } from '../../lib/job/settings/enabled.js';
import { configurationProblems, readSettings } from '../../lib/job/settings/queue-configuration.js';

const at = (time: string) => Date.parse(`2027-01-15T${time}:00Z`);

describe('the times of a queue', () => {
  it('include their start and not their end', () => {
    const times = { from: '08:00', to: '18:00' };

    expect(['07:59', '08:00', '17:59', '18:00'].map((time) => isEnabledAt(times, at(time)))).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });

  it('go on over midnight if they end before they start', () => {
    const times = { from: '22:00', to: '06:00' };

    expect(['21:59', '22:00', '00:00', '05:59', '06:00'].map((time) => isEnabledAt(times, at(time)))).toEqual([
      false,
      true,
      true,
      true,
      false,
    ]);
  });

  it('are those of their time zone, in summer and in winter', () => {
    const times = { from: '08:00', to: '18:00', tz: 'Europe/Berlin' };

    expect(isEnabledAt(times, Date.parse('2027-01-15T07:00:00Z'))).toBe(true);
    expect(isEnabledAt(times, Date.parse('2027-01-15T06:30:00Z'))).toBe(false);
    expect(isEnabledAt(times, Date.parse('2027-07-15T06:30:00Z'))).toBe(true);
    expect(isEnabledAt(times, Date.parse('2027-07-15T16:30:00Z'))).toBe(false);
  });

  it('are valid up to the end of the day', () => {
    expect(isEnabled({ from: '08:00', to: '24:00' })).toBe(true);
    expect(isEnabledAt({ from: '08:00', to: '24:00' }, at('23:59'))).toBe(true);
  });

  it.each([
    { from: '8:00', to: '18:00' },
    { from: '08:00' },
    { from: '08:00', to: '08:00' },
    { from: '24:00', to: '08:00' },
    { from: '08:60', to: '18:00' },
    { from: '08:00', to: '18:00', tz: 'Berlin' },
    { from: '08:00', to: '18:00', day: 1 },
    'always',
    null,
  ])('are invalid as %j', (value) => {
    expect(isEnabled(value)).toBe(false);
  });
});

describe('a configuration', () => {
  it('has all its problems reported', () => {
    const problems = configurationProblems({ concurrency: 0, enabled: 'yes', prefetch: 1 });

    expect(problems.filter(Boolean)).toEqual([
      expect.stringContaining('unknown option "prefetch"'),
      'expected concurrency to be a whole number from 1 to 10000, got 0',
      `expected enabled to be true, false, or { from, to, tz? } with different times like '08:00', got "yes"`,
    ]);
    expect(configurationProblems({}).filter(Boolean)).toEqual([
      'expected at least one of concurrency, paused, maxRunning, rate, enabled, or null, got {}',
    ]);
  });

  it('that another program has stored badly applies as far as it is valid', () => {
    expect(readSettings({ concurrency: 1e9, enabled: false })).toEqual({ enabled: false });
    expect(readSettings([5])).toEqual({});
  });
});
