import { Cron } from 'croner';
import { onTestFinished, vi } from 'vitest';
import { CronTicks } from '../../lib/job/schedules/cron.js';
import { dueTicks, nextTick, type MissedTickPolicy, type TickSource } from '../../lib/job/schedules/ticks.js';

// Title, expression, zone, start, expected ticks. Zones of both hemispheres, shifts of an hour and of half an hour.
const CASES: [title: string, cron: string, tz: string, from: string, ticks: string[]][] = [
  [
    'runs a fixed time inside a gap at the end of the gap',
    ...(['30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00Z'] as const),
    ['2026-03-29T01:00Z', '2026-03-30T00:30Z', '2026-03-31T00:30Z'],
  ],
  [
    'runs a fixed time of a repeated hour once',
    ...(['30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00Z'] as const),
    ['2026-10-25T00:30Z', '2026-10-26T01:30Z', '2026-10-27T01:30Z'],
  ],
  [
    'runs every 30 minutes through a repeated hour',
    ...(['*/30 * * * *', 'Europe/Berlin', '2026-10-24T23:59Z'] as const),
    ['2026-10-25T00:00Z', '2026-10-25T00:30Z', '2026-10-25T01:00Z', '2026-10-25T01:30Z', '2026-10-25T02:00Z'],
  ],
  [
    'runs every 30 minutes through a gap',
    ...(['*/30 * * * *', 'Europe/Berlin', '2026-03-29T00:01Z'] as const),
    ['2026-03-29T00:30Z', '2026-03-29T01:00Z', '2026-03-29T01:30Z', '2026-03-29T02:00Z'],
  ],
  [
    'runs every hour through a gap',
    ...(['0 * * * *', 'America/New_York', '2026-03-08T05:30Z'] as const),
    ['2026-03-08T06:00Z', '2026-03-08T07:00Z', '2026-03-08T08:00Z'],
  ],
  [
    'adds no tick at the end of a gap for minutes of every hour',
    ...(['45 * * * *', 'Europe/Berlin', '2026-03-29T00:00Z'] as const),
    ['2026-03-29T00:45Z', '2026-03-29T01:45Z', '2026-03-29T02:45Z'],
  ],
  [
    'runs every hour through a repeated hour',
    ...(['0 * * * *', 'America/New_York', '2026-11-01T04:30Z'] as const),
    ['2026-11-01T05:00Z', '2026-11-01T06:00Z', '2026-11-01T07:00Z', '2026-11-01T08:00Z'],
  ],
  [
    'runs a time inside a gap of half an hour at its end',
    ...(['15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00Z'] as const),
    ['2026-10-03T15:30Z', '2026-10-04T15:15Z'],
  ],
  [
    'runs a time of a repeated half hour once',
    ...(['45 1 * * *', 'Australia/Lord_Howe', '2026-04-04T00:00Z'] as const),
    ['2026-04-04T14:45Z', '2026-04-05T15:15Z'],
  ],
  [
    'runs every 15 minutes through a repeated half hour',
    ...(['*/15 * * * *', 'Australia/Lord_Howe', '2026-04-04T14:29Z'] as const),
    ['2026-04-04T14:30Z', '2026-04-04T14:45Z', '2026-04-04T15:00Z', '2026-04-04T15:15Z', '2026-04-04T15:30Z'],
  ],
  [
    'runs a list of minutes of a repeated hour once',
    ...(['15,45 2 * * *', 'Europe/Berlin', '2026-10-24T12:00Z'] as const),
    ['2026-10-25T00:15Z', '2026-10-25T00:45Z', '2026-10-26T01:15Z'],
  ],
  [
    'runs a range of minutes of a repeated hour once',
    ...(['15-16 1 * * *', 'America/New_York', '2026-10-31T12:00Z'] as const),
    ['2026-11-01T05:15Z', '2026-11-01T05:16Z', '2026-11-02T06:15Z'],
  ],
  [
    'runs every 20 minutes of a fixed hour that is repeated once',
    ...(['*/20 2 * * *', 'Europe/Berlin', '2026-10-24T12:00Z'] as const),
    ['2026-10-25T00:00Z', '2026-10-25T00:20Z', '2026-10-25T00:40Z', '2026-10-26T01:00Z'],
  ],
  [
    'runs a list of hours with a repeated hour once each',
    ...(['0 2,14 * * *', 'Europe/Berlin', '2026-10-24T12:30Z'] as const),
    ['2026-10-25T00:00Z', '2026-10-25T13:00Z', '2026-10-26T01:00Z'],
  ],
  [
    'runs a range of hours with a repeated hour once each',
    ...(['0 1-3 * * *', 'America/New_York', '2026-10-31T12:00Z'] as const),
    ['2026-11-01T05:00Z', '2026-11-01T07:00Z', '2026-11-01T08:00Z', '2026-11-02T06:00Z'],
  ],
  [
    'runs a range of hours with a step once in a repeated hour',
    ...(['30 0-4/2 * * *', 'Europe/Berlin', '2026-10-24T12:00Z'] as const),
    ['2026-10-24T22:30Z', '2026-10-25T00:30Z', '2026-10-25T03:30Z', '2026-10-25T23:30Z'],
  ],
  [
    'runs step hours in both hours of a repeated one',
    ...(['0 */2 * * *', 'Europe/Berlin', '2026-10-24T22:30Z'] as const),
    ['2026-10-25T00:00Z', '2026-10-25T01:00Z', '2026-10-25T03:00Z'],
  ],
  [
    'runs a list of minutes of a repeated half hour once',
    ...(['15,30,45 1 * * *', 'Australia/Lord_Howe', '2026-04-04T00:00Z'] as const),
    ['2026-04-04T14:15Z', '2026-04-04T14:30Z', '2026-04-04T14:45Z', '2026-04-05T14:45Z'],
  ],
  [
    'runs a list of a repeated hour before midnight once',
    ...(['15,45 23 * * *', 'America/Santiago', '2026-04-04T12:00Z'] as const),
    ['2026-04-05T02:15Z', '2026-04-05T02:45Z', '2026-04-06T03:15Z'],
  ],
  [
    'runs a list with seconds of a repeated hour once',
    ...(['0,30 15 2 * * *', 'Europe/Berlin', '2026-10-24T12:00Z'] as const),
    ['2026-10-25T00:15Z', '2026-10-25T00:15:30Z', '2026-10-26T01:15Z'],
  ],
  [
    'starts within a repeated hour with the next day',
    ...(['15,45 2 * * *', 'Europe/Berlin', '2026-10-25T01:20Z'] as const),
    ['2026-10-26T01:15Z'],
  ],
  [
    'runs midnight at the end of a gap that begins at midnight',
    ...(['0 0 * * *', 'Africa/Cairo', '2026-04-22T22:30Z'] as const),
    ['2026-04-23T22:00Z', '2026-04-24T21:00Z'],
  ],
  [
    'runs a time before midnight once if midnight comes twice',
    ...(['30 23 * * *', 'America/Santiago', '2026-04-04T12:00Z'] as const),
    ['2026-04-05T02:30Z', '2026-04-06T03:30Z'],
  ],
  [
    'has no tick on a day that the zone skips',
    ...(['0 12 * * *', 'Pacific/Apia', '2011-12-29T00:00Z'] as const),
    ['2011-12-29T22:00Z', '2011-12-30T22:00Z'],
  ],
  [
    'knows offsets of a quarter of an hour',
    ...(['0 9 * * *', 'Asia/Kathmandu', '2026-01-01T00:00Z'] as const),
    ['2026-01-01T03:15Z'],
  ],
  [
    'runs on February 29 in leap years only',
    ...(['0 0 29 2 *', 'UTC', '2026-01-01T00:00Z'] as const),
    ['2028-02-29T00:00Z', '2032-02-29T00:00Z'],
  ],
  ['knows that 2100 is no leap year', ...(['0 0 29 2 *', 'UTC', '2096-03-01T00:00Z'] as const), ['2104-02-29T00:00Z']],
  [
    'runs on the 31st in long months only',
    ...(['0 0 31 * *', 'UTC', '2026-01-31T00:00:01Z'] as const),
    ['2026-03-31T00:00Z', '2026-05-31T00:00Z', '2026-07-31T00:00Z'],
  ],
  [
    'runs on the last day of the month',
    ...(['0 0 L * *', 'UTC', '2026-01-31T00:00:01Z'] as const),
    ['2026-02-28T00:00Z', '2026-03-31T00:00Z'],
  ],
  [
    'runs on the last Friday of the month',
    ...(['0 0 * * 5L', 'UTC', '2026-01-01T00:00Z'] as const),
    ['2026-01-30T00:00Z', '2026-02-27T00:00Z'],
  ],
  [
    'runs on the second Tuesday of the month',
    ...(['0 0 * * 2#2', 'UTC', '2026-01-01T00:00Z'] as const),
    ['2026-01-13T00:00Z', '2026-02-10T00:00Z'],
  ],
  [
    'runs on the days of the month and on those of the week',
    ...(['0 0 13 * 5', 'UTC', '2026-01-01T00:00Z'] as const),
    ['2026-01-02T00:00Z', '2026-01-09T00:00Z', '2026-01-13T00:00Z', '2026-01-16T00:00Z'],
  ],
  [
    'reads a field of seconds',
    ...(['*/20 * * * * *', 'UTC', '2026-01-01T00:00:05Z'] as const),
    ['2026-01-01T00:00:20Z', '2026-01-01T00:00:40Z'],
  ],
  ['reads weekday 7 as Sunday', '0 0 * * 7', 'UTC', '2026-01-01T00:00Z', ['2026-01-04T00:00Z']],
  [
    'reads @daily',
    ...(['@daily', 'Europe/Berlin', '2026-03-28T12:00Z'] as const),
    ['2026-03-28T23:00Z', '2026-03-29T22:00Z'],
  ],
  [
    'merges a time in a gap with the time at its end',
    ...(['0 2,3 * * *', 'Europe/Berlin', '2026-03-28T12:00Z'] as const),
    ['2026-03-29T01:00Z', '2026-03-30T00:00Z', '2026-03-30T01:00Z'],
  ],
  [
    'runs a list of minutes inside a gap once, at the end of the gap',
    ...(['15,45 2 * * *', 'Europe/Berlin', '2026-03-28T12:00Z'] as const),
    ['2026-03-29T01:00Z', '2026-03-30T00:15Z', '2026-03-30T00:45Z'],
  ],
  [
    'runs a list with seconds inside a gap of the southern hemisphere once',
    ...(['0,30 15,20 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00Z'] as const),
    ['2026-10-03T15:30Z', '2026-10-04T15:15Z', '2026-10-04T15:15:30Z', '2026-10-04T15:20Z'],
  ],
  [
    'runs a range of hours that a gap shortens once in each remaining hour',
    ...(['30 1-3 * * *', 'Europe/Berlin', '2026-03-28T12:00Z'] as const),
    ['2026-03-29T00:30Z', '2026-03-29T01:00Z', '2026-03-29T01:30Z', '2026-03-29T23:30Z'],
  ],
];

const ZONES = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Africa/Cairo', 'America/Santiago'];

describe('cron ticks', () => {
  it.each(CASES)('%s', (_title, cron, tz, from, expected) => {
    const ticks = new CronTicks(cron, tz);
    const found: number[] = [];
    for (let at = Date.parse(from); found.length < expected.length; at = found.at(-1)!) found.push(ticks.next(at)!);

    expect(found.map(iso)).toEqual(expected.map((tick) => iso(Date.parse(tick))));
  });

  it('has no tick for a date that does not exist', () => {
    expect(new CronTicks('0 0 30 2 *', 'UTC').next(Date.parse('2026-01-01T00:00Z'))).toBeNull();
  });

  it.each(ZONES)('runs every 5 minutes without a pause through a year of %s', (tz) => {
    const ticks = new CronTicks('*/5 * * * *', tz);
    const end = Date.parse('2027-01-01T00:00Z');
    for (let at = Date.parse('2026-01-01T00:00Z'); at < end; at += 12 * 3_600_000)
      expect(ticks.next(at)).toBe(at + 300_000);
    for (const day of [
      '2026-03-08',
      '2026-03-29',
      '2026-04-04',
      '2026-04-24',
      '2026-10-03',
      '2026-10-25',
      '2026-10-29',
    ])
      for (let at = Date.parse(day); at < Date.parse(day) + 2 * 86_400_000; at += 300_000)
        expect(ticks.next(at)).toBe(at + 300_000);
  });

  it.each(ZONES)('shows no time of fixed hours twice while the clocks of %s are set back', (tz) => {
    const ticks = new CronTicks('*/15 0-3,23 * * *', tz);
    const clock = new Intl.DateTimeFormat('en-US', { timeZone: tz, dateStyle: 'short', timeStyle: 'short' });
    for (const day of ['2026-04-04', '2026-10-24', '2026-10-29', '2026-10-31']) {
      const shown: string[] = [];
      for (let at = ticks.next(Date.parse(day))!; at < Date.parse(day) + 3 * 86_400_000; at = ticks.next(at)!)
        shown.push(clock.format(at));

      expect(new Set(shown).size).toBe(shown.length);
      expect(shown.length).toBeGreaterThan(50);
    }
  });

  it.each([
    ['30 2 * * *', '2026-03-20T00:00Z', '2026-04-30T12:34Z'],
    ['15,45 2 * * *', '2026-03-20T00:00Z', '2026-04-30T12:34Z'],
    ['15,45 2 * * *', '2026-10-20T00:00Z', '2026-10-25T02:34Z'],
    ['*/20 1-3 * * *', '2026-03-20T00:00Z', '2026-04-30T12:34Z'],
    ['*/20 1-3 * * *', '2026-10-20T00:00Z', '2026-11-01T08:34Z'],
    ['0 0 * * 1', '2026-03-20T00:00Z', '2026-04-30T12:34Z'],
  ])('finds the same last ticks of "%s" from %s to %s backwards as forwards', (cron, start, end) => {
    for (const tz of ZONES) {
      const ticks = new CronTicks(cron, tz);
      const [from, to] = [Date.parse(start), Date.parse(end)];
      const forwards: number[] = [];
      for (let at = ticks.next(from - 1)!; at < to; at = ticks.next(at)!) forwards.push(at);

      for (const count of [1, 2, 7, 1_000]) expect(ticks.last(count, from, to)).toEqual(forwards.slice(-count));
    }
  });

  it('looks for missed ticks no further back than the outage, however many may run', () => {
    const ticks = new CronTicks('0 3 * * *', 'Europe/Berlin');
    const end = Date.parse('2026-06-15T12:00Z');
    const searched = vi.spyOn(Cron.prototype, 'previousRuns');
    onTestFinished(() => searched.mockRestore());

    ticks.last(1_000, end - 86_400_000, end);

    expect(searched.mock.calls.map(([count]) => count)).toEqual([1, 4]);
  });
});

describe('due ticks', () => {
  const HOUR_MS = 3_600_000;
  const hourly = { cron: '0 * * * *', everyMs: null, tz: 'UTC', untilMs: null };
  const NOON = Date.parse('2026-01-01T12:00Z');

  it('returns one tick that is not missed if the tick is just due', () => {
    expect(due(hourly, { missed: 'skip' }, NOON, NOON + 5)).toEqual([{ atMs: NOON, isMissed: false }]);
  });

  it('returns all ticks of the last minute with every policy', () => {
    const every = { cron: null, everyMs: 1_000, tz: 'UTC', untilMs: null };

    const ticks = due(every, { missed: 'skip' }, NOON, NOON + 59_000);

    expect(ticks).toHaveLength(60);
    expect(ticks.every(({ isMissed }) => !isMissed)).toBe(true);
  });

  it.each([
    ['skip', { missed: 'skip' }, []],
    ['once', { missed: 'once' }, [NOON + 3 * HOUR_MS]],
    ['all, within its limit', { missed: 'all', missedLimit: 2 }, [NOON + 2 * HOUR_MS, NOON + 3 * HOUR_MS]],
    ['all', { missed: 'all', missedLimit: 9 }, [0, 1, 2, 3].map((hours) => NOON + hours * HOUR_MS)],
  ] as const)('returns the missed ticks of the policy %s', (_title, policy, expected) => {
    const ticks = due(hourly, policy, NOON, NOON + 3.5 * HOUR_MS);

    expect(ticks).toEqual(expected.map((atMs) => ({ atMs, isMissed: true })));
  });

  it('returns no tick after the end of the schedule', () => {
    const ended = { ...hourly, untilMs: NOON + HOUR_MS };

    expect(nextTick(ended, NOON + HOUR_MS)).toBeNull();
    expect(due(ended, { missed: 'all', missedLimit: 9 }, NOON, NOON + 5 * HOUR_MS)).toHaveLength(2);
  });

  it('counts the last ticks of a short duration without a loop over all', () => {
    const every = { cron: null, everyMs: 100, tz: 'UTC', untilMs: null };

    const ticks = due(every, { missed: 'once' }, 0, NOON);

    expect(ticks[0]).toEqual({ atMs: NOON - 60_100, isMissed: true });
    expect(ticks).toHaveLength(602);
  });

  function due(source: TickSource, policy: Partial<MissedTickPolicy>, nextAtMs: number, nowMs: number) {
    return dueTicks({ ...source, missed: 'once', missedLimit: 1, ...policy }, nextAtMs, nowMs).due;
  }
});

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
