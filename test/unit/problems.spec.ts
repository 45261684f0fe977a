import { Histogram } from '../../lib/job/histogram.js';
import { attemptsOf } from '../../lib/job/problems/attempts.js';
import { findProblems, suspectsOf } from '../../lib/job/problems/find-problems.js';
import type { MinuteFacts, ProblemFacts, QueueFacts } from '../../lib/job/problems/problem-facts.js';

const MINUTE = 60_000;
// The middle of a minute.
const NOW = 30_000_000 * MINUTE + 30_000;
const ago = (minutes: number) => new Date(NOW - minutes * MINUTE);
const minuteAgo = (minutes: number) => new Date(NOW - 30_000 - minutes * MINUTE);

const queue = (given: Partial<QueueFacts> = {}): QueueFacts => ({
  ...{ queue: 'q', paused: false, settings: {}, waiting: { value: 3, atLeast: false } },
  ...{ oldestWaitingMs: 1_000, workers: 1, sampledAt: new Date(NOW), ...given },
});

const minute = (minutesAgo: number, given: Partial<Omit<MinuteFacts, 'waits'>> & { waitMs?: number } = {}) => {
  const { waitMs, ...counts } = given;
  const waits = new Histogram();
  if (waitMs !== undefined) waits.add(waitMs);
  return { startsAtMs: minuteAgo(minutesAgo).getTime(), completed: 0, failed: 0, dead: 0, ...counts, waits };
};

const problemsOf = (given: Partial<ProblemFacts>) =>
  findProblems({
    ...{ nowMs: NOW, queues: [], consumed: new Set(), pauses: new Map(), groups: new Map(), minutes: new Map() },
    ...{ lapsedClaims: [], silentWorkers: [], lateSchedules: [], ...given },
  });

/** A queue whose oldest job waits for 20 minutes, with a blocked group and paused ones. */
const grouped = (paused: number, ...minutes: MinuteFacts[]) => ({
  queues: [queue({ oldestWaitingMs: 20 * MINUTE })],
  groups: new Map([['q', { blocked: { count: 1, first: 'acme' }, paused: { count: paused, first: 'globex' } }]]),
  minutes: new Map([['q', minutes]]),
});

const withMinutes = (...minutes: MinuteFacts[]) => problemsOf({ minutes: new Map([['q', minutes]]) });

describe('the problems of queues', () => {
  it('are none while jobs run', () => {
    const minutes = new Map([['q', [minute(0, { completed: 100, failed: 2 })]]]);

    expect(problemsOf({ queues: [queue()], minutes })).toEqual([]);
  });

  it('are waiting jobs without a worker, since the oldest of them waits', () => {
    const queues = [queue({ workers: 0, oldestWaitingMs: 7 * MINUTE })];

    expect(problemsOf({ queues })).toEqual([
      {
        ...{ rule: 'no-worker', severity: 'broken', queue: 'q', since: ago(7), isGettingWorse: true },
        message: 'No worker serves queue "q": 3 jobs wait, the oldest for 7m.',
        actions: [
          { command: 'workers', args: [] },
          { command: 'list', args: ['q', 'waiting'] },
        ],
      },
    ]);
    expect(problemsOf({ queues, consumed: new Set(['q']) })).toEqual([]);
  });

  it('are pauses with waiting jobs, with the administrator, and settings that switch a queue off', () => {
    const pauses = new Map([['q', { since: ago(90), by: 'ann' }]]);

    expect(problemsOf({ queues: [queue({ paused: true, workers: 0 })], pauses })).toMatchObject([
      {
        ...{ rule: 'paused', severity: 'attention', since: ago(90) },
        message: 'Queue "q" is paused by ann: 3 jobs wait, the oldest for 1s.',
        actions: [{ command: 'resume', args: ['q'] }],
      },
    ]);
    expect(problemsOf({ queues: [queue({ settings: { enabled: false } })] })).toMatchObject([
      { rule: 'paused', since: null, actions: [{ command: 'set', args: ['q', 'enabled=true'] }] },
    ]);
    expect(problemsOf({ queues: [queue({ paused: true, waiting: { value: 0, atLeast: false } })] })).toEqual([]);
  });

  it('are jobs that wait for more than five minutes, and get worse if they wait longer than earlier ones', () => {
    const queues = [queue({ oldestWaitingMs: 20 * MINUTE })];
    const behind = (...minutes: MinuteFacts[]) => problemsOf({ queues, minutes: new Map([['q', minutes]]) })[0];
    const recent = minute(1, { completed: 55, waitMs: 19 * MINUTE });

    const growing = behind(recent, minute(10, { completed: 50, waitMs: 8 * MINUTE }));
    const shrinking = behind(recent, minute(10, { completed: 50, waitMs: 40 * MINUTE }));

    expect(growing).toMatchObject({ rule: 'behind', severity: 'broken', isGettingWorse: true, since: ago(20) });
    expect(shrinking).toMatchObject({ severity: 'attention', isGettingWorse: false });
    expect(shrinking!.message).toBe(
      'Queue "q" is behind: 3 jobs wait, the oldest for 20m. 10 a minute are completed: it takes 18s to catch up.',
    );
    expect(behind()).toMatchObject({
      ...{ severity: 'broken', isGettingWorse: true },
      message: expect.stringContaining('None was completed in the last 5 minutes.'),
    });
    expect(problemsOf({ queues: [queue({ oldestWaitingMs: 5 * MINUTE })] })).toEqual([]);
  });

  it('are not jobs that wait outside of the hours of their queue', () => {
    const closed = { from: '00:00', to: '00:01' };

    expect(problemsOf({ queues: [queue({ oldestWaitingMs: 20 * MINUTE, settings: { enabled: closed } })] })).toEqual(
      [],
    );
  });

  it('are groups that start no job in a queue that is behind', () => {
    const groups = new Map([['q', { blocked: { count: 2, first: 'acme' }, paused: { count: 1, first: 'globex' } }]]);

    const found = problemsOf({ queues: [queue({ oldestWaitingMs: 20 * MINUTE })], groups });

    expect(found.map(({ rule }) => rule)).toEqual(['behind', 'groups-blocked']);
    expect(found[1]!.message).toContain(
      '2 groups blocked by a limit or a rest (such as "acme") and 1 group paused ("globex"): 3',
    );
    expect(problemsOf({ queues: [queue()], groups })).toEqual([]);
  });

  it('do not get worse by the oldest job of a paused group while other jobs run', () => {
    const behind = (completed: number, paused: number) =>
      problemsOf(grouped(paused, minute(1, { completed, waitMs: 15 * MINUTE })))[0];

    expect(behind(50, 1)).toMatchObject({ rule: 'behind', severity: 'attention', isGettingWorse: null });
    expect(behind(50, 0)).toMatchObject({ rule: 'behind', severity: 'broken', isGettingWorse: true });
    expect(behind(0, 1)).toMatchObject({ rule: 'behind', severity: 'broken', isGettingWorse: true });
  });

  it('are the groups at rest alone if all other jobs start soon', () => {
    const rules = (...minutes: MinuteFacts[]) => problemsOf(grouped(0, ...minutes)).map(({ rule }) => rule);

    expect(rules(minute(1, { completed: 50, waitMs: 1_000 }))).toEqual(['groups-blocked']);
    expect(rules(minute(1, { completed: 50, waitMs: 11 * MINUTE }))).toEqual(['behind', 'groups-blocked']);
    expect(rules()).toEqual(['behind', 'groups-blocked']);
  });

  it('are a fifth of failed attempts in five minutes, since the first minute of that run', () => {
    const failures = [0, 1, 3, 4, 5].map((ago) => minute(ago, { completed: 8, failed: 4, dead: 1 }));
    const found = withMinutes(...failures, minute(6, { completed: 50, failed: 2 }));

    expect(found).toMatchObject([
      {
        ...{ rule: 'failing', severity: 'broken', since: minuteAgo(5), isGettingWorse: true },
        message: '33 % of the attempts of queue "q" fail: 20 of 60 in 5 minutes.',
      },
    ]);
    const steady = minute(10, { completed: 8, failed: 4 });
    expect(withMinutes(...failures, steady)).toMatchObject([{ isGettingWorse: false, since: minuteAgo(10) }]);
    expect(withMinutes(minute(0, { completed: 1, failed: 8 }))).toEqual([]);
    expect(withMinutes(minute(0, { completed: 81, failed: 20 }))).toEqual([]);
  });

  it('are more than a twentieth of dead jobs in ten minutes', () => {
    const found = withMinutes(minute(8, { completed: 90, failed: 10, dead: 10 }));

    expect(found).toMatchObject([
      {
        ...{ rule: 'dead-jobs', severity: 'attention', since: minuteAgo(8), isGettingWorse: true },
        message: '10 % of the jobs that end in queue "q" are dead: 10 jobs in 10 minutes.',
      },
    ]);
    expect(withMinutes(minute(8, { completed: 95, failed: 5, dead: 5 }))).toEqual([]);
  });

  it('are claims that no worker rescues, and workers without a heartbeat', () => {
    const found = problemsOf({
      lapsedClaims: [{ queue: 'q', claims: 2, lapsedMs: 4 * MINUTE }],
      silentWorkers: [{ id: 'w', host: 'h', pid: 7, seenAtMs: ago(3).getTime() }],
    });

    expect(found).toMatchObject([
      { rule: 'lapsed-claims', severity: 'broken', queue: 'q', since: ago(4) },
      {
        ...{ rule: 'silent-worker', severity: 'attention', queue: null, since: ago(3) },
        message: 'Worker w (process 7 of h) has sent no heartbeat for 3m.',
      },
    ]);
  });

  it('are schedules whose ticks no worker runs, which is broken unless the workers of the queue do not declare them', () => {
    const late = (fromApi: number, workers: number, count = 1) =>
      problemsOf({
        queues: [queue({ workers })],
        lateSchedules: [{ queue: 'q', count, fromApi, firstName: 'daily', dueAtMs: ago(3).getTime() }],
      }).filter(({ rule }) => rule === 'schedule-late');

    expect(late(1, 1)).toEqual([
      {
        ...{ rule: 'schedule-late', severity: 'broken', queue: 'q', since: ago(3), isGettingWorse: null },
        message: 'Schedule "daily" of queue "q" is late: its tick was due 3m ago, and no worker runs it.',
        actions: [
          { command: 'workers', args: [] },
          { command: 'schedules', args: [] },
        ],
      },
    ]);
    expect(late(0, 1, 2)).toMatchObject([
      {
        severity: 'attention',
        message:
          '2 schedules of queue "q" are late (such as "daily"): the first tick was due 3m ago, and the workers of the queue do not declare them.',
      },
    ]);
    expect(late(0, 0)).toMatchObject([{ severity: 'broken' }]);
    expect(late(1, 1, 2)).toMatchObject([{ severity: 'broken' }]);
  });

  it('come with the broken ones first, and of these the oldest', () => {
    const late = { workers: 0, oldestWaitingMs: 9 * MINUTE };
    const queues = [
      queue({ queue: 'p', paused: true }),
      queue({ queue: 'a', workers: 0 }),
      queue({ ...late, queue: 'b' }),
    ];

    expect(problemsOf({ queues }).map((one) => one.queue)).toEqual(['b', 'a', 'p']);
  });

  it('suggest no command for a queue whose name no command accepts', () => {
    expect(problemsOf({ queues: [queue({ queue: 'a; b', workers: 0 })] })).toMatchObject([{ actions: [] }]);
  });

  it('need further facts about at most 50 queues of a kind, those whose jobs wait longest', () => {
    const queues = Array.from({ length: 60 }, (_, n) => queue({ queue: `q${n}`, workers: 0, oldestWaitingMs: n }));

    const { unserved, paused, disabled, behind } = suspectsOf(queues);

    expect([unserved.length, unserved[0], unserved[49]]).toEqual([50, 'q59', 'q10']);
    expect([paused, disabled, behind]).toEqual([[], [], []]);
  });

  it('need the changes by which queues were paused, and those by which others were disabled', () => {
    const settings = { enabled: false };
    const queues = [
      queue({ queue: 'both', paused: true, settings }),
      queue({ queue: 'paused', paused: true }),
      queue({ queue: 'disabled', settings }),
    ];

    expect(suspectsOf(queues)).toEqual({
      unserved: [],
      paused: ['both', 'paused'],
      disabled: ['disabled'],
      behind: [],
    });
  });
});

describe('the attempts of the last minutes', () => {
  it('are those of the present minute and of the whole minutes before', () => {
    const of = [minute(0, { completed: 1 }), minute(5, { completed: 2 }), minute(6, { completed: 4 })];

    expect(attemptsOf(of, NOW, 0, 5)).toMatchObject({ completed: 3, ended: 3, minutes: 5.5 });
    expect(attemptsOf(of, NOW, 6, 15)).toMatchObject({ completed: 4, minutes: 10 });
  });
});
