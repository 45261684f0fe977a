import { setTimeout } from 'node:timers/promises';
import type { HistoryOptions, MetricsPoint } from '../../lib/admin/read-history.js';
import { InvalidOptionsError, UnrecoverableError } from '../../lib/job/errors.js';
import type { JobContext } from '../../lib/worker/run/job-context.js';
import type { Engine } from '../support/engine.js';
import { describeEngines, plainJobs, untilAborted, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { FakeClock } from '../support/fake-clock.js';

/** The sums of all points. */
function sumsOf(points: readonly MetricsPoint[]) {
  const sum = (name: 'completed' | 'failed' | 'dead' | 'cancelled') =>
    points.reduce((total, point) => total + point[name], 0);
  return { completed: sum('completed'), failed: sum('failed'), dead: sum('dead'), cancelled: sum('cancelled') };
}

async function savedIn(world: World): Promise<number> {
  const [row] = await world.sql<{ jobs: number | null }>('SELECT SUM(completed) AS jobs FROM sql_queue_metrics');
  return Number(row!.jobs ?? 0);
}

describeEngines('admin.history', (setup) => {
  it('has the attempts of all processes, by outcome', async () => {
    const world = await setup();
    const snoozed = new Set<number>();
    const handlers = {
      q: async (job: JobContext<string>) => {
        await setTimeout(20);
        if (job.payload === 'fails once' && job.attempt === 1) throw new Error('once');
        if (job.payload === 'dies') throw new UnrecoverableError('never');
        if (job.payload === 'is cancelled') {
          await engines[0]!.admin.cancel(job.id);
          (await untilAborted(job.signal)).throwIfAborted();
        }
        if (job.payload === 'comes again' && !snoozed.has(job.id)) job.snooze(snoozed.add(job.id) && 1);
      },
    };
    const engines: Engine[] = [await world.start({ handlers }), await world.start({ handlers })];
    const payloads = ['works', 'fails once', 'dies', 'is cancelled', 'comes again', 'works'];
    for (const { producer } of engines)
      await producer.enqueueMany(
        'q',
        payloads.map((payload) => ({ payload })),
      );
    await eventually(async () => {
      const { completed, dead, cancelled } = await engines[0]!.admin.counts('q');
      return completed + dead + cancelled === 12;
    });

    for (const { close } of engines) await close();

    const { admin } = await world.start({ autoStart: false });
    const points = await admin.history('q');
    expect(sumsOf(points)).toEqual({ completed: 8, failed: 4, dead: 2, cancelled: 2 });
    const [{ runMs, waitMs, step }] = points as [MetricsPoint];
    expect(step).toBe('minute');
    expect(runMs!.p50).toBeGreaterThanOrEqual(16);
    expect(runMs!.p99).toBeGreaterThanOrEqual(runMs!.p50);
    expect(waitMs!.p50).toBeGreaterThanOrEqual(0);
    expect(await admin.history('other')).toEqual([]);
  });

  it('adds up the attempts of several queues, whose percentiles are those of all attempts', async () => {
    const world = await setup();
    const { producer, events, close } = await world.start({
      handlers: { fast: () => {}, slow: () => setTimeout(300), other: () => {} },
    });
    for (const queue of ['fast', 'slow', 'other']) {
      await producer.enqueue(queue, 0);
      await events.until('completed', { queue });
    }
    await close();

    const { admin } = await world.start({ autoStart: false });
    const points = await admin.history(['fast', 'slow'], { step: 'day' });

    expect(sumsOf(points)).toMatchObject({ completed: 2, failed: 0 });
    expect(points.at(-1)!.runMs!.p99).toBeGreaterThanOrEqual(240);
    await expect(admin.history(['fast', ''])).rejects.toThrow(InvalidOptionsError);
  });

  it('has the attempts of each queue apart, of a queue that is named twice once', async () => {
    const world = await setup();
    const { producer, events, close } = await world.start({ handlers: { one: () => {}, two: () => {} } });
    for (const [queue, count] of [
      ['one', 1],
      ['two', 2],
    ] as const)
      await producer.enqueueMany(queue, plainJobs(count));
    await events.untilCount(3, 'completed');
    await close();

    const { admin } = await world.start({ autoStart: false });
    const histories = await admin.histories(['two', 'one', 'none'], { step: 'hour' });

    expect([...histories].map(([queue, points]) => [queue, sumsOf(points).completed])).toEqual([
      ['two', 2],
      ['one', 1],
      ['none', 0],
    ]);
    expect(sumsOf(await admin.history(['one', 'one', 'two'])).completed).toBe(3);
    expect(await admin.histories([])).toEqual(new Map());
  });

  it('reads the minutes of up to 50 queues, or of a long time of fewer, by one statement', async () => {
    const world = await setup();
    const { admin, opened } = await world.start({ autoStart: false });
    const reads = vi.spyOn(opened.stores.metrics, 'read');
    const sizes = () => reads.mock.calls.splice(0).map(([queues]) => queues.length);
    const names = Array.from({ length: 120 }, (_, n) => `q${n}`);
    const to = new Date(await world.now());

    await admin.history(names);
    const ofHour = sizes();
    await admin.histories(names.slice(0, 3), { from: new Date(to.getTime() - 5_000 * 60_000), to });
    const ofDays = sizes();
    await admin.history(names.slice(0, 2), { from: new Date(to.getTime() - 10_000 * 60_000), to });

    expect([ofHour, ofDays, sizes()]).toEqual([
      [50, 50, 20],
      [2, 1],
      [1, 1],
    ]);
  });

  it('has wait times since jobs became due', async () => {
    const world = await setup();
    const { producer, runner, events, close } = await world.start({
      autoStart: false,
      handlers: { waits: () => {}, delayed: () => {} },
    });
    await producer.enqueue('waits', 0);
    await producer.enqueue('delayed', 0, { delay: '1h' });
    await setTimeout(600);
    await runner.start();
    await events.until('completed', { queue: 'waits' });
    world.advance(3_600_000);
    await events.until('completed', { queue: 'delayed' });
    await close();

    const { admin } = await world.start({ autoStart: false });
    const lastHours = { step: 'hour' } as const;
    const [waits] = await admin.history('waits', lastHours);
    const [delayed] = await admin.history('delayed', lastHours);

    expect(waits!.waitMs!.p50).toBeGreaterThanOrEqual(480);
    // The hour since its enqueue is not part of it.
    expect(delayed!.waitMs!.p50).toBeLessThan(1_800_000);
  });

  it('counts jobs that people held, without a wait time', async () => {
    const world = await setup();
    const { producer, consumer, close } = await world.start({ autoStart: false });
    await producer.enqueueMany('q', plainJobs(2));
    const jobs = await consumer.claim('q', { owner: 'ann', limit: 2 });
    await setTimeout(20);
    await consumer.complete(jobs[0]!.id, { owner: 'ann' });
    await consumer.fail(jobs[1]!.id, { owner: 'ann', error: 'out of paper', retry: false });
    await close();

    const { admin } = await world.start({ autoStart: false });
    const points = await admin.history('q');

    expect(sumsOf(points)).toEqual({ completed: 1, failed: 1, dead: 1, cancelled: 0 });
    expect(points[0]!.waitMs).toBeNull();
    expect(points[0]!.runMs!.p50).toBeGreaterThanOrEqual(16);
  });

  it('is saved every ten seconds, and not while no attempt ends', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const { producer, events } = await world.start({ clock, handlers: { q: () => {} } });
    const complete = async (count: number) => {
      const before = events.jobs('completed').length;
      await producer.enqueueMany('q', plainJobs(count));
      await advanceUntil(clock, () => events.jobs('completed').length === before + count);
    };
    await complete(3);

    await advanceUntil(clock, async () => (await savedIn(world)) === 3);
    await world.sql('DELETE FROM sql_queue_metrics');
    for (let seconds = 0; seconds < 120; seconds += 10) await clock.advance(10_000);
    const rowsOfIdle = await world.sql('SELECT * FROM sql_queue_metrics');
    await complete(2);
    await advanceUntil(clock, async () => (await savedIn(world)) === 2);

    expect(rowsOfIdle).toEqual([]);
  });

  it('is saved when the worker has stopped, while the connections of the application are open', async () => {
    const world = await setup();
    const { producer, events, opened } = await world.start({ handlers: { q: () => {} } });
    await producer.enqueueMany('q', plainJobs(3));
    await events.untilCount(3, 'completed');

    await opened.shutdown.stop();

    expect(await savedIn(world)).toBe(3);
  });

  it('has a point per minute, hour or day', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const { producer, admin } = await world.start({ clock, handlers: { q: () => {} } });
    for (const [index, pauseMs] of [0, 60_000, 3_600_000].entries()) {
      const resumesAt = clock.elapsedMs + pauseMs;
      await advanceUntil(clock, () => clock.elapsedMs >= resumesAt, 10_000);
      await producer.enqueue('q', 0);
      await advanceUntil(clock, async () => (await savedIn(world)) === index + 1);
    }
    const to = new Date((await world.now()) + clock.elapsedMs + 1);
    const from = new Date(to.getTime() - 9_000 * 60_000);

    const minutes = await admin.history('q', { step: 'minute', from, to });
    const hours = await admin.history('q', { step: 'hour', from, to });
    const days = await admin.history('q', { step: 'day', from, to });

    expect([minutes.length, sumsOf(minutes).completed]).toEqual([3, 3]);
    // The first two may be on both sides of a full hour.
    expect([2, 3]).toContain(hours.length);
    expect([sumsOf(hours).completed, sumsOf(days).completed]).toEqual([3, 3]);
    expect(hours[0]!.at.getTime() % 3_600_000).toBe(0);
    const times = minutes.map(({ at }) => at.getTime());
    expect(times).toEqual(
      times.filter((at) => at % 60_000 === 0 && at >= Number(from) && at < Number(to)).sort((a, b) => a - b),
    );
  });

  it('adds up old minutes while attempts end', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const { producer } = await world.start({ clock, handlers: { q: () => {} } });
    const saves = async (count: number) => {
      await producer.enqueue('q', 0);
      await advanceUntil(clock, async () => (await savedIn(world)) === count);
    };
    await saves(1);
    const resumesAt = clock.elapsedMs + 15 * 60_000;
    await advanceUntil(clock, () => clock.elapsedMs >= resumesAt, 60_000);
    await saves(2);

    const folded = async () =>
      (await world.sql<{ step_ms: number }>('SELECT step_ms FROM sql_queue_metrics')).map((row) => Number(row.step_ms));
    await advanceUntil(clock, async () => (await folded()).includes(60_000));

    expect((await folded()).sort((a, b) => a - b)).toEqual([0, 60_000]);
    expect(await savedIn(world)).toBe(2);
  });

  it('is saved after an outage, and the outage is logged once', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const { producer, events, log } = await world.start({ clock, handlers: { q: () => {} } });
    await world.sql('ALTER TABLE sql_queue_metrics RENAME TO away');
    await producer.enqueueMany('q', plainJobs(3));
    await advanceUntil(clock, () => events.jobs('completed').length === 3);
    await advanceUntil(clock, () => log.some((line) => line.startsWith('warn: Cannot save metrics')), 10_000);
    for (let seconds = 0; seconds < 180; seconds += 10) await clock.advance(10_000);

    await world.sql('ALTER TABLE away RENAME TO sql_queue_metrics');
    await advanceUntil(clock, async () => (await savedIn(world)) === 3, 10_000);

    expect(log.filter((line) => line.startsWith('warn: Cannot save metrics'))).toHaveLength(1);
    await eventually(() => log.some((line) => line.includes('Metrics are saved again')));
  });

  it.each([
    ['an unknown option', { since: 1 }, 'unknown option "since"'],
    ['a text as a time', { from: '2030-01-01' }, 'expected from to be a valid Date'],
    ['an invalid time', { to: new Date(Number.NaN) }, 'expected to to be a valid Date'],
    ['an unknown step', { step: 'week' }, "expected step to be 'minute', 'hour' or 'day'"],
    ['a range that ends before it begins', { from: new Date(2), to: new Date(1) }, 'expected to to be after 1970'],
    [
      'a range of a million minutes',
      { from: new Date(0), to: new Date(6e10) },
      'at most 10000 steps before to, got "1000000 steps"',
    ],
  ])('rejects %s', async (_, options, message) => {
    const world = await setup();
    const { admin } = await world.start({ autoStart: false });

    const refused = admin.history('q', options as HistoryOptions);

    await expect(refused).rejects.toThrow(InvalidOptionsError);
    await expect(refused).rejects.toThrow(message);
    await expect(admin.history('a b')).rejects.toThrow('queue name');
  });
});

describeEngines('an instrumentation', (setup) => {
  it('gets each end of an attempt once it is stored', async () => {
    const world = await setup();
    const ended: object[] = [];
    const { producer, runner } = await world.start({
      instrumentations: [{ ended: (attempt) => void ended.push(attempt) }],
      handlers: {
        q: (job: JobContext) => {
          if (job.attempt === 1) throw new TypeError('once');
          if (ended.length === 1) job.snooze(1);
        },
      },
    });
    const { id } = await producer.enqueue('q', 0, { name: 'job' });
    await eventually(() => ended.length === 3);
    await runner.whenIdle();

    const times = { waitMs: expect.any(Number), ranMs: expect.any(Number) };
    expect(ended).toEqual([
      {
        queue: 'q',
        name: 'job',
        jobId: id,
        attempt: 1,
        outcome: 'failed',
        ...times,
        error: expect.objectContaining({ name: 'TypeError' }),
      },
      { queue: 'q', name: 'job', jobId: id, attempt: 2, outcome: 'snoozed', ...times },
      { queue: 'q', name: 'job', jobId: id, attempt: 2, outcome: 'completed', ...times },
    ]);
  });

  it('cannot harm a job, and its first error is logged', async () => {
    const world = await setup();
    const ended: number[] = [];
    const broken = {
      ended: () => {
        throw new Error('no metrics today');
      },
    };
    const { producer, events, log } = await world.start({
      instrumentations: [broken, { ended: ({ jobId }) => void ended.push(jobId) }],
      handlers: { q: () => {} },
    });
    const jobs = await producer.enqueueMany('q', plainJobs(3));

    await events.untilCount(3, 'completed');

    expect(new Set(ended)).toEqual(new Set(jobs.map(({ id }) => id)));
    expect(ended).toHaveLength(3);
    expect(log.filter((line) => line.includes('no metrics today'))).toHaveLength(1);
  });
});

/** Advances the clock in steps until the condition holds. */
async function advanceUntil(clock: FakeClock, holds: () => boolean | Promise<boolean>, stepMs = 1_000): Promise<void> {
  while (!(await holds())) {
    await clock.advance(stepMs);
    await setTimeout(5);
  }
}
