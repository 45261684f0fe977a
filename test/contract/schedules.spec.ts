import { ScheduleConflictError, ScheduleNotFoundError } from '../../lib/job/errors.js';
import type { NewSchedule } from '../../lib/job/schedules/schedule.js';
import { limitPages } from '../../lib/common/lists.js';
import { finalBatchOf, newJob } from '../support/jobs.js';
import { newSchedule } from '../support/schedules.js';
import { describeStores, type World } from '../support/stores.js';

const HOUR_MS = 3_600_000;
// With such a period no tick comes but by an advance of the clock.
const LONG_MS = 300 * 86_400_000;

afterEach(() => limitPages(Infinity));

interface StoredJob {
  id: number;
  payload: string;
  run_at: number | null;
  options: string;
}

describeStores('schedules', (setup, { server }) => {
  it('have their first tick in the future', async () => {
    const world = await setup();

    const nextAtMs = await world.schedules.upsert(newSchedule({ name: 'hourly' }));

    expect(nextAtMs! % HOUR_MS).toBe(0);
    expect(await world.schedules.runTicks([])).toEqual({ jobs: [], malformed: [], hasMore: false });
    expect(await world.schedules.get('hourly')).toMatchObject({
      ...{ name: 'hourly', queue: 'q', jobName: 'default', cron: null, everyMs: HOUR_MS, tz: 'UTC', payload: null },
      options: {},
      ...{ missed: 'once', overlap: 'allow', jitterMs: 0, until: null, nextAt: new Date(nextAtMs!), isPaused: false },
      ...{ lastAt: null, lastJobId: null, source: 'api', revision: null },
    });
  });

  it('enqueue one job at a tick, with the payload and options of the schedule, and move to the next tick', async () => {
    const world = await setup();
    const job = newJob({ payload: '{"a":1}', priority: 3, headers: '{"h":"1"}', overrides: '{"timeoutMs":5}' });
    const first = await world.schedules.upsert(newSchedule({ name: 'hourly', job }));

    const ran = await runNextTick(world, 'hourly');

    expect(ran).toHaveLength(1);
    const [claimed] = (await world.claim()).jobs;
    const schedule = { name: 'hourly', at: first };
    expect(claimed).toMatchObject({ id: ran[0]!.id, payload: '{"a":1}', priority: 3, headers: '{"h":"1"}' });
    expect(claimed!.overrides).toEqual({ timeoutMs: 5, schedule });
    expect(await world.admin.get(claimed!.id)).toMatchObject({ schedule: { name: 'hourly' } });
    const record = await world.schedules.get('hourly');
    expect(record).toMatchObject({ lastJobId: ran[0]!.id, lastAt: new Date(first!) });
    expect(record!.nextAt!.getTime()).toBe(first! + HOUR_MS);
    expect(await world.schedules.runTicks([])).toEqual({ jobs: [], malformed: [], hasMore: false });
  });

  it('run each tick once in many processes at the same time', async () => {
    const world = await setup();
    const stores = world.store.inMemory ? [world] : await Promise.all(Array.from({ length: 4 }, () => world.open()));
    for (let n = 0; n < 20; n++) await world.schedules.upsert(newSchedule({ name: `s${n}`, everyMs: LONG_MS }));

    for (let tick = 0; tick < 3; tick++) {
      world.advance(LONG_MS);
      for (let round = 0; round < 3; round++) await Promise.all(stores.map(({ schedules }) => schedules.runTicks([])));
    }

    const ticks = (await storedJobs(world)).map(({ options }) => options);
    expect(ticks).toHaveLength(60);
    expect(new Set(ticks).size).toBe(60);
  });

  it.each([
    ['skip', 0, []],
    ['once', 1, [true]],
    ['all', 3, [true, true, true]],
  ] as const)('run missed ticks by the policy %s', async (missed, limit, expected) => {
    const world = await setup();
    await world.schedules.upsert(newSchedule({ name: 'hourly', missed, missedLimit: limit || 1 }));
    world.advance(5 * HOUR_MS + untilQuarterPast());

    await world.schedules.runTicks([]);

    expect((await ticksOf(world)).map((tick) => tick.missed)).toEqual(expected);
    expect((await world.schedules.get('hourly'))!.nextAt!.getTime() % HOUR_MS).toBe(0);
  });

  it('catch up in several transactions if many ticks are due', async () => {
    const world = await setup();
    for (const name of ['a', 'b', 'c', 'd'])
      await world.schedules.upsert(newSchedule({ name, everyMs: 30_000, missed: 'all', missedLimit: 100 }));
    world.advance(2 * HOUR_MS);

    const calls = [await world.schedules.runTicks([]), await world.schedules.runTicks([])];

    // Each schedule has 100 missed ticks, and two or three late ones.
    expect(calls.map(({ jobs, hasMore }) => [Math.floor(jobs.length / 100), hasMore])).toEqual([
      [2, true],
      [2, false],
    ]);
    expect(new Set((await ticksOf(world)).map(({ name }) => name)).size).toBe(4);
  });

  it('leave a tick out while the previous job has not ended, with overlap skip', async () => {
    const world = await setup();
    await world.schedules.upsert(newSchedule({ name: 'hourly', overlap: 'skip' }));
    await runNextTick(world, 'hourly');

    expect(await runNextTick(world, 'hourly')).toHaveLength(0);
    const claim = await world.claim();
    expect(await runNextTick(world, 'hourly')).toHaveLength(0);
    await world.jobs.complete(finalBatchOf(claim));

    expect(await runNextTick(world, 'hourly')).toHaveLength(1);
  });

  it('leave a tick out while the previous job waits, with overlap one-waiting', async () => {
    const world = await setup();
    await world.schedules.upsert(newSchedule({ name: 'hourly', overlap: 'one-waiting' }));
    await runNextTick(world, 'hourly');

    expect(await runNextTick(world, 'hourly')).toHaveLength(0);
    await world.claim();
    expect(await runNextTick(world, 'hourly')).toHaveLength(1);
    expect(await runNextTick(world, 'hourly')).toHaveLength(0);
  });

  it('delay each job by a part of the jitter that follows from the name and the tick', async () => {
    const world = await setup();
    for (const name of ['a', 'b', 'c', 'd'])
      await world.schedules.upsert(newSchedule({ name, jitterMs: 30 * 60_000, everyMs: 24 * HOUR_MS }));
    world.advance((await world.jobs.readUpcomingTimes([])).tickInMs!);

    await world.schedules.runTicks([]);

    const delays = (await storedJobs(world)).map(
      ({ run_at, options }) => Number(run_at) - (JSON.parse(options) as { schedule: { at: number } }).schedule.at,
    );
    expect(new Set(delays).size).toBe(4);
    expect(delays.every((delay) => delay > 0 && delay <= 30 * 60_000)).toBe(true);
  });

  it('end after their last tick', async () => {
    const world = await setup();
    const untilMs = await world.schedules.upsert(newSchedule({ name: 'hourly' }));
    await world.schedules.upsert(newSchedule({ name: 'hourly', untilMs }));

    expect(await runNextTick(world, 'hourly')).toHaveLength(1);

    expect((await world.schedules.get('hourly'))!.nextAt).toBeNull();
  });

  it('keep their next tick and their pause when they are stored again with the same times', async () => {
    const world = await setup();
    const first = await world.schedules.upsert(newSchedule({ name: 'hourly' }));
    world.advance(2 * HOUR_MS);

    expect(await world.schedules.upsert(newSchedule({ name: 'hourly', job: newJob({ queue: 'other' }) }))).toBe(first);
    expect(await world.schedules.upsert(newSchedule({ name: 'hourly', everyMs: 2 * HOUR_MS }))).toBeGreaterThan(first!);
    await world.schedules.setPaused('hourly', true);
    expect(await world.schedules.upsert(newSchedule({ name: 'hourly' }))).toBeNull();

    expect(await world.schedules.get('hourly')).toMatchObject({ isPaused: true, queue: 'q' });
  });

  it('have no ticks while they are paused, and leave those of the pause out', async () => {
    const world = await setup();
    const first = await world.schedules.upsert(newSchedule({ name: 'hourly', missed: 'all', missedLimit: 100 }));

    expect(await world.schedules.setPaused('hourly', true)).toEqual({ queue: 'q', nextAtMs: null });
    world.advance(5 * HOUR_MS);
    expect((await world.schedules.runTicks([])).jobs).toEqual([]);
    const { nextAtMs } = await world.schedules.setPaused('hourly', false);

    expect(nextAtMs).toBeGreaterThanOrEqual(first! + 5 * HOUR_MS);
    expect((await world.schedules.runTicks([])).jobs).toEqual([]);
  });

  it('run at once on request, without a change to their ticks', async () => {
    const world = await setup();
    const next = await world.schedules.upsert(newSchedule({ name: 'hourly' }));

    const job = await world.schedules.runNow('hourly');

    expect((await storedJobs(world)).map(({ id }) => Number(id))).toEqual([job.id]);
    expect(await world.schedules.get('hourly')).toMatchObject({ lastJobId: job.id, nextAt: new Date(next!) });
  });

  it('are gone after their removal', async () => {
    const world = await setup();
    await world.schedules.upsert(newSchedule({ name: 'hourly' }));

    expect(await world.schedules.remove('hourly')).toBe(true);
    expect(await world.schedules.remove('hourly')).toBe(false);

    world.advance(HOUR_MS);
    expect((await world.schedules.runTicks([])).jobs).toEqual([]);
    expect(await world.schedules.list()).toEqual([]);
    await expect(world.schedules.setPaused('hourly', true)).rejects.toThrow(ScheduleNotFoundError);
    await expect(world.schedules.runNow('hourly')).rejects.toThrow(ScheduleNotFoundError);
  });

  it("exist exactly if the caller's transaction commits", async () => {
    const world = await setup();
    const roll = (outcome: 'commit' | 'rollback', act: (manager: never) => Promise<unknown>) =>
      world.dataSource
        .transaction(async (manager) => {
          await act(manager as never);
          if (outcome === 'rollback') throw new Error('rolled back');
        })
        .catch((error: Error) => expect(error.message).toBe('rolled back'));

    await roll('rollback', (manager) =>
      world.schedules.upsert(newSchedule({ name: 'lost' }), { transaction: manager }),
    );
    await roll('commit', (manager) => world.schedules.upsert(newSchedule({ name: 'kept' }), { transaction: manager }));
    await roll('rollback', (manager) => world.schedules.remove('kept', { transaction: manager }));
    await roll('rollback', (manager) => world.schedules.runNow('kept', { transaction: manager }));

    expect((await world.schedules.list()).map(({ name }) => name)).toEqual(['kept']);
    expect(await storedJobs(world)).toEqual([]);
  });

  if (server.name !== 'sqlite') {
    it.each([['new'], ['known']])(
      'that are %s do not deadlock transactions that store them together',
      async (state) => {
        const world = await setup();
        if (state === 'known') await world.schedules.upsert(newSchedule({ name: 'same' }));

        const stored = await Promise.all(
          Array.from({ length: 8 }, (_, n) =>
            world.dataSource.transaction((manager) =>
              world.schedules.upsert(newSchedule({ name: 'same', jitterMs: n }), { transaction: manager }),
            ),
          ),
        );

        expect(new Set(stored).size).toBe(1);
        expect(await world.schedules.list()).toHaveLength(1);
      },
    );

    it('of other transactions do not delay ticks', async () => {
      const world = await setup();
      for (const name of ['free', 'locked']) await world.schedules.upsert(newSchedule({ name }));
      world.advance(HOUR_MS);

      await world.dataSource.transaction(async (manager) => {
        await world.schedules.setPaused('locked', false, { transaction: manager });
        expect((await world.schedules.runTicks([])).jobs).toHaveLength(1);
      });

      expect((await world.schedules.runTicks([])).jobs).toHaveLength(1);
    });

    it('that other transactions have locked do not delay the ticks of schedules behind them', async () => {
      limitPages(2);
      const world = await setup();
      const locked = ['a', 'b', 'c', 'd', 'e'];
      for (const name of [...locked, 'free', 'later']) await world.schedules.upsert(newSchedule({ name }));
      world.advance(HOUR_MS);

      await world.dataSource.transaction(async (manager) => {
        for (const name of locked) await world.schedules.setPaused(name, false, { transaction: manager });
        expect((await world.schedules.runTicks([])).jobs).toHaveLength(2);
        expect((await world.schedules.runTicks([])).jobs).toHaveLength(0);
      });

      const pages = [
        await world.schedules.runTicks([]),
        await world.schedules.runTicks([]),
        await world.schedules.runTicks([]),
      ];
      expect(pages.map(({ jobs }) => jobs.length)).toEqual([2, 2, 1]);
    });
  }

  describe('from code', () => {
    it('have ticks in the processes that declare them only', async () => {
      const world = await setup();
      await world.schedules.declare([newSchedule({ name: 'code' })], '1');
      world.advance(HOUR_MS);

      expect((await world.schedules.runTicks([])).jobs).toHaveLength(0);
      expect((await world.jobs.readUpcomingTimes([])).tickInMs).toBeNull();
      expect((await world.schedules.runTicks(['code'])).jobs).toHaveLength(1);
      expect((await world.jobs.readUpcomingTimes(['code'])).tickInMs).toBeGreaterThan(0);
    });

    it('change with a declaration of an equal or higher revision, and not with one of a lower revision', async () => {
      const world = await setup();
      const of = (queue: string) => [newSchedule({ name: 'code', job: newJob({ queue }) })];

      await world.schedules.declare(of('first'), '1.9');
      expect(await world.schedules.declare(of('second'), '1.10')).toEqual({ conflicts: [], newer: [] });
      expect(await world.schedules.declare(of('third'), '1.9')).toEqual({ conflicts: [], newer: ['code'] });
      expect((await world.schedules.get('code'))!).toMatchObject({ queue: 'second', revision: '1.10' });
      await world.schedules.declare(of('fourth'), '1.10');

      expect((await world.schedules.get('code'))!.queue).toBe('fourth');
    });

    it('are not replaced by a lower revision after a higher one has declared them without a change', async () => {
      const world = await setup();
      const of = (queue: string) => [newSchedule({ name: 'code', job: newJob({ queue }) })];
      await world.schedules.declare(of('same'), '1');
      await world.schedules.declare(of('same'), '3');

      expect(await world.schedules.declare(of('old'), '2')).toEqual({ conflicts: [], newer: ['code'] });

      expect(await world.schedules.get('code')).toMatchObject({ queue: 'same', revision: '3' });
    });

    it('keep their next tick and their pause in a deployment that changes their payload', async () => {
      const world = await setup();
      await world.schedules.declare([newSchedule({ name: 'code' }), newSchedule({ name: 'paused' })], '1');
      const { nextAt } = (await world.schedules.get('code'))!;
      await world.schedules.setPaused('paused', true);
      world.advance(3 * HOUR_MS);

      const job = newJob({ payload: '2' });
      await world.schedules.declare([newSchedule({ name: 'code', job }), newSchedule({ name: 'paused', job })], '2');

      expect(await world.schedules.get('code')).toMatchObject({ payload: 2, nextAt });
      expect(await world.schedules.get('paused')).toMatchObject({ payload: 2, nextAt: null, isPaused: true });
    });

    it('are declared once by many processes that start together', async () => {
      const world = await setup();
      const stores = world.store.inMemory ? [world] : await Promise.all(Array.from({ length: 4 }, () => world.open()));
      const schedules = Array.from({ length: 5 }, (_, n) => newSchedule({ name: `s${n}` }));

      const results = await Promise.all(
        stores.map((store, index) => store.schedules.declare(index % 2 ? schedules : [...schedules].reverse(), '1')),
      );

      expect(results).toEqual(stores.map(() => ({ conflicts: [], newer: [] })));
      expect((await world.schedules.list()).map(({ name }) => name)).toEqual(['s0', 's1', 's2', 's3', 's4']);
    });

    it('are deleted when no process has declared them for some time', async () => {
      const world = await setup();
      await world.schedules.upsert(newSchedule({ name: 'api' }));
      await world.schedules.declare([newSchedule({ name: 'kept' }), newSchedule({ name: 'old' })], '1');
      world.advance(23 * HOUR_MS);
      await world.schedules.keepDeclared(['kept']);
      expect(await world.schedules.removeUndeclared(24 * HOUR_MS)).toEqual([]);
      world.advance(2 * HOUR_MS);

      expect(await world.schedules.removeUndeclared(24 * HOUR_MS)).toEqual(['old']);
      expect(await world.schedules.keepDeclared(['kept', 'old'])).toEqual(['old']);

      expect((await world.schedules.list()).map(({ name }) => name)).toEqual(['api', 'kept']);
    });

    it('and those of QueueSchedules do not replace each other', async () => {
      const world = await setup();
      await world.schedules.upsert(newSchedule({ name: 'api' }));
      await world.schedules.declare([newSchedule({ name: 'code' })], '1');

      expect(await world.schedules.declare([newSchedule({ name: 'api' })], '9')).toEqual({
        conflicts: ['api'],
        newer: [],
      });
      await expect(world.schedules.upsert(newSchedule({ name: 'code' }))).rejects.toThrow(ScheduleConflictError);
      await expect(world.schedules.remove('code')).rejects.toThrow(ScheduleConflictError);

      expect((await world.schedules.list()).map(({ name, source }) => [name, source])).toEqual([
        ['api', 'api'],
        ['code', 'code'],
      ]);
    });
  });

  it.each([
    ['an invalid cron expression', `cron = 'every day', every_ms = NULL`],
    ['an unknown zone', `cron = '0 0 * * *', every_ms = NULL, tz = 'Mars'`],
    ['neither cron nor every', 'every_ms = NULL'],
    ['options that are no JSON', `options = '{'`],
    ['an unknown policy', `missed = 'never'`],
    ['an unknown rule against overlaps', `overlap = 'never'`],
    ['a time in seconds, which would be thousands of jobs', 'every_ms = 60'],
  ])('with %s are paused alone', async (_title, change) => {
    const world = await setup();
    for (const name of ['bad', 'good']) await world.schedules.upsert(newSchedule({ name }));
    await world.sql(`UPDATE sql_queue_schedules SET ${change} WHERE name = 'bad'`);
    world.advance(HOUR_MS);

    const { jobs, malformed } = await world.schedules.runTicks([]);

    expect(jobs).toHaveLength(1);
    expect(malformed.map(({ name }) => name)).toEqual(['bad']);
    expect(await world.schedules.get('bad')).toMatchObject({ isPaused: true, nextAt: null });
    expect(await world.schedules.get('good')).toMatchObject({ isPaused: false });
    await expect(world.schedules.setPaused('bad', false)).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
    await world.schedules.upsert(newSchedule({ name: 'bad' }));
    expect((await world.schedules.setPaused('bad', false)).nextAtMs).toBeGreaterThan(0);
  });

  it('that another program has paused have no ticks until they are resumed', async () => {
    const world = await setup();
    for (const name of ['paused', 'good']) await world.schedules.upsert(newSchedule({ name, everyMs: LONG_MS }));
    await world.sql(`UPDATE sql_queue_schedules SET paused = 1 WHERE name = 'paused'`);
    world.advance(LONG_MS);

    expect((await world.schedules.runTicks([])).jobs).toHaveLength(1);

    expect(await world.schedules.get('paused')).toMatchObject({ isPaused: true, nextAt: null, lastJobId: null });
    await world.schedules.setPaused('paused', false);
    world.advance(LONG_MS);
    expect((await world.schedules.runTicks([])).jobs).toHaveLength(2);
  });

  it('run through years of an outage without a loop over every tick', async () => {
    const world = await setup();
    const schedules: NewSchedule[] = [
      newSchedule({ name: 'second', everyMs: null, cron: '* * * * * *' }),
      newSchedule({ name: 'often', everyMs: 100 }),
    ];
    for (const schedule of schedules) await world.schedules.upsert(schedule);
    world.advance(3 * 365 * 24 * HOUR_MS);

    const { jobs } = await world.schedules.runTicks([]);

    // The ticks of the last minute, and one for all that were missed before.
    expect(jobs.length).toBeGreaterThan(600);
    expect(jobs.length).toBeLessThan(700);
  });

  /** Milliseconds until a quarter past the hour or later, so that no tick is within the last minute. */
  function untilQuarterPast(): number {
    const past = Date.now() % HOUR_MS;
    return past > 900_000 ? 0 : 900_000 - past;
  }

  /** Advances the time to the next tick, and runs it. */
  async function runNextTick(world: World, name: string) {
    const { nextAt } = (await world.schedules.get(name))!;
    const { tickInMs } = await world.jobs.readUpcomingTimes([]);
    world.advance(tickInMs!);
    const { jobs } = await world.schedules.runTicks([]);
    expect((await world.schedules.get(name))!.nextAt?.getTime() ?? Infinity).toBeGreaterThan(nextAt!.getTime());
    return jobs;
  }

  async function storedJobs(world: World): Promise<StoredJob[]> {
    return world.sql<StoredJob>('SELECT id, payload, run_at, options FROM sql_queue_jobs ORDER BY id');
  }

  async function ticksOf(world: World) {
    return (await storedJobs(world)).map(
      ({ options }) => (JSON.parse(options) as { schedule: { name: string; at: number; missed?: true } }).schedule,
    );
  }
});
