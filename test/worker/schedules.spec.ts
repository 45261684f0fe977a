import { limitPages } from '../../lib/common/lists.js';
import { InvalidOptionsError, ScheduleConflictError } from '../../lib/job/errors.js';
import { newJob } from '../support/jobs.js';
import { describeEngines } from '../support/engines.js';
import { newSchedule } from '../support/schedules.js';
import { FakeClock } from '../support/fake-clock.js';
import { eventually } from '../support/eventually.js';

const OFTEN_MS = 100;
// Only a notification makes such a worker poll in time.
const HARDLY_EVER = { poll: { min: '1h', max: '1h' } } as const;

afterEach(() => limitPages(Infinity));

describeEngines('schedules in workers', (setup) => {
  it('run their jobs in a worker that declares them', async () => {
    const world = await setup();
    const seen: unknown[] = [];
    const { events } = await world.start({
      handlers: { q: (job) => void seen.push(job.schedule) },
      declaredSchedules: [newSchedule({ name: 'often', everyMs: OFTEN_MS })],
    });

    await events.untilCount(3, 'completed');

    expect(seen.slice(0, 3)).toEqual(
      seen.slice(0, 3).map(() => ({ name: 'often', at: expect.any(Date), missed: false })),
    );
    const times = (seen as { at: Date }[]).map(({ at }) => at.getTime());
    expect(times.every((time) => time % OFTEN_MS === 0)).toBe(true);
    expect(new Set(times).size).toBe(times.length);
  });

  it('run while the worker polls hardly ever', async () => {
    const world = await setup();
    const { events } = await world.start({
      worker: HARDLY_EVER,
      handlers: { q: () => undefined },
      declaredSchedules: [newSchedule({ name: 'often', everyMs: OFTEN_MS })],
    });

    await events.untilCount(5, 'completed');
  });

  it('with a jitter run at its end while the worker polls hardly ever', async () => {
    const world = await setup();
    const { events } = await world.start({
      worker: HARDLY_EVER,
      handlers: { q: () => undefined },
      declaredSchedules: [newSchedule({ name: 'often', everyMs: OFTEN_MS, jitterMs: 200 })],
    });

    await events.untilCount(5, 'completed');
  });

  it.each([null, 'later', [], { at: 'once' }])('of QueueSchedules reject %j instead of options', async (given) => {
    const world = await setup();
    const { schedules } = await world.start({ autoStart: false });
    const options = given as never;
    const calls = {
      upsert: () => schedules.upsert('mine', { queue: 'q', every: '1h' }, options),
      ...{ remove: () => schedules.remove('mine', options), runNow: () => schedules.runNow('mine', options) },
      ...{ pause: () => schedules.pause('mine', options), resume: () => schedules.resume('mine', options) },
    };

    for (const call of Object.values(calls)) await expect(call()).rejects.toThrow(InvalidOptionsError);

    expect(await schedules.list()).toEqual([]);
  });

  it('of QueueSchedules start in an idle worker of another process', async () => {
    const world = await setup();
    const { events, workerChannel } = await world.start({ worker: HARDLY_EVER, handlers: { q: () => undefined } });
    await workerChannel.untilListening('q');
    const heard = workerChannel.received.length;
    const { schedules } = await world.start({ autoStart: false });

    await schedules.upsert('often', { queue: 'q', every: OFTEN_MS });

    await events.untilCount(2, 'completed');
    expect(workerChannel.received.slice(heard)).not.toContain('none');
  });

  it('run in workers of other queues, which notify the worker of the queue', async () => {
    const world = await setup();
    const { events, workerChannel } = await world.start({ worker: HARDLY_EVER, handlers: { q: () => undefined } });
    await workerChannel.untilListening('q');
    await world.start({
      handlers: { other: () => undefined },
      declaredSchedules: [
        newSchedule({ name: 'other', everyMs: OFTEN_MS, job: newJob({ queue: 'other' }) }),
        // This process does not work the queue of the schedule, so it does not declare it.
        newSchedule({ name: 'q', everyMs: OFTEN_MS }),
      ],
    });
    const { schedules } = await world.start({ autoStart: false });

    await schedules.upsert('api', { queue: 'q', every: OFTEN_MS });

    await events.untilCount(2, 'completed');
    expect((await schedules.list()).map(({ name }) => name)).toEqual(['api', 'other']);
  });

  it('run without a pause after a page of schedules that skip their tick', async () => {
    limitPages(2);
    const world = await setup();
    const clock = new FakeClock();
    const { events, schedules, runner } = await world.start({
      clock,
      worker: { ...HARDLY_EVER, notify: false },
      handlers: { q: () => undefined },
    });
    const advanceHour = async () => {
      await runner.whenIdle();
      await eventually(() => !runner.health().isPolling);
      await clock.advance(0);
      await clock.advance(3_600_000);
    };
    // No worker ends the jobs of the first four, so these schedules skip all ticks after the first.
    for (const name of ['a', 'b', 'c', 'd'])
      await schedules.upsert(name, { queue: 'waiting', every: '1h', overlap: 'skip' });
    await schedules.upsert('z', { queue: 'q', every: '1h' });

    for (const tick of [1, 2]) {
      await advanceHour();
      await events.untilCount(tick, 'completed');
    }

    expect(clock.elapsedMs).toBe(7_200_000);
  });

  it('stop with a pause, and go on after it', async () => {
    const world = await setup();
    const { events, schedules } = await world.start({
      handlers: { q: () => undefined },
      declaredSchedules: [newSchedule({ name: 'often', everyMs: OFTEN_MS })],
    });
    await events.until('completed');

    await schedules.pause('often');
    const { lastJobId } = (await schedules.get('often'))!;
    await schedules.resume('often');

    await eventually(async () => (await schedules.get('often'))!.lastJobId! > lastJobId!);
  });

  it('let the program start only if QueueSchedules has no schedule of the same name', async () => {
    const world = await setup();
    const { schedules } = await world.start({ autoStart: false });
    await schedules.upsert('mine', { queue: 'q', every: '1h' });

    const start = world.start({
      handlers: { q: () => undefined },
      declaredSchedules: [newSchedule({ name: 'mine' })],
    });

    await expect(start).rejects.toThrow(ScheduleConflictError);
  });

  it('run at once, also in the transaction of the caller', async () => {
    const world = await setup();
    const { schedules, events } = await world.start({ handlers: { q: (job) => job.schedule?.name } });
    await schedules.upsert('mine', { queue: 'q', every: '365d' });

    const id = await world.dataSource.transaction((manager) => schedules.runNow('mine', { manager }));

    expect(await events.until('completed')).toMatchObject({ jobId: id, result: 'mine' });
  });

  it('of queues that the process does not work are left to the processes that work them', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const { schedules } = await world.start({
      clock,
      worker: { queues: { exclude: ['other'] } },
      handlers: { q: () => undefined, other: () => undefined },
      declaredSchedules: [
        newSchedule({ name: 'mine' }),
        newSchedule({ name: 'theirs', job: newJob({ queue: 'other' }) }),
      ],
    });
    await world.dataSource.query(`DELETE FROM sql_queue_schedules`);

    // A worker declares its schedules again if they are gone.
    await eventually(async () => {
      await clock.advance(60_000);
      return (await schedules.get('mine')) !== null;
    });

    expect((await schedules.list()).map(({ name }) => name)).toEqual(['mine']);
  });

  it('log a schedule that a newer revision has declared differently, and leave it', async () => {
    const world = await setup();
    const handlers = { q: () => undefined };
    const newer = newSchedule({ name: 'mine', job: newJob({ payload: '2' }) });
    await world.start({ handlers, revision: '2', declaredSchedules: [newer] });

    const { log, schedules } = await world.start({
      handlers,
      revision: '1',
      declaredSchedules: [newSchedule({ name: 'mine' })],
    });

    expect(log.join('\n')).toContain('A newer revision of this program has declared "mine" differently.');
    expect((await schedules.get('mine'))!.payload).toBe(2);
  });
});
