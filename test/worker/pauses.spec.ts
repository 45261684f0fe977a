import { describeEngines, gate, plainJobs } from '../support/engines.js';
import { eventually } from '../support/eventually.js';

describeEngines('a paused queue', (setup) => {
  it('is skipped by this process until it resumes, while other processes work on it', async () => {
    const world = await setup();
    const here = await world.start({ handlers: { q: () => 'here', r: () => 'here' } });
    here.runner.pause('q');

    await here.producer.enqueue('q', 0);
    await here.producer.enqueue('r', 0);
    await here.events.until('completed', { queue: 'r' });
    await here.runner.whenIdle();
    const whilePaused = await here.admin.counts('q');
    const there = await world.start({ handlers: { q: () => 'there' } });
    await there.events.until('completed', { queue: 'q' });
    await there.runner.stop();
    here.runner.resume('q');
    await here.producer.enqueue('q', 0);
    await here.events.until('completed', { queue: 'q' });

    expect(whilePaused).toMatchObject({ waiting: 1, active: 0 });
  });

  it('is skipped by all processes, even by one that starts later, until it is resumed', async () => {
    const world = await setup();
    const first = await world.start({ handlers: { q: () => 'first' } });
    await first.admin.pause('q');
    const second = await world.start({ handlers: { q: () => 'second' } });
    for (const { runner } of [first, second]) await runner.whenIdle();

    await first.producer.enqueueMany('q', plainJobs(5));
    for (const { runner } of [first, second]) await runner.whenIdle();
    const whilePaused = await first.admin.counts('q');
    await second.admin.resume('q');
    await eventually(async () => (await first.admin.counts('q')).completed === 5);

    expect(whilePaused).toMatchObject({ waiting: 5, active: 0, completed: 0 });
  });

  it.each([null, 5])(
    'is skipped by a worker that starts while the queue has jobs, with the concurrency %s',
    async (concurrency) => {
      const world = await setup();
      const first = await world.start({ handlers: { other: () => 'done' } });
      await first.producer.enqueueMany('q', plainJobs(5));
      await first.admin.configure('q', { paused: true, concurrency });

      const second = await world.start({ handlers: { q: () => 'done' } });
      await second.runner.whenIdle();
      const whilePaused = [...second.events.all];
      await first.admin.resume('q');
      await second.events.untilCount(5, 'completed');

      // A claimed job would be started or released.
      expect(whilePaused).toEqual([]);
    },
  );

  it.each([
    ['resumed', true],
    ['paused', false],
  ])('can be %s while its worker starts', async (_, paused) => {
    const world = await setup();
    const { producer, runner, events, admin } = await world.start({
      ...{ queues: { q: { paused } }, handlers: { q: () => 'done', r: () => 'done' }, autoStart: false },
    });
    await producer.enqueue('q', 0);

    const started = runner.start();
    await Promise.resolve();
    if (paused) runner.resume('q');
    else runner.pause('q');
    await started;

    if (paused) await events.until('completed');
    await runner.whenIdle();
    expect(await admin.counts('q')).toMatchObject(paused ? { completed: 1 } : { waiting: 1 });
  });

  it('returns prefetched jobs without a counted attempt, and lets running jobs end', async () => {
    const world = await setup();
    const { open, opened } = gate();
    const { producer, events, admin, runner } = await world.start({
      queues: { q: { concurrency: 1, prefetch: 5 } },
      handlers: { q: () => opened },
    });
    await producer.enqueueMany('q', plainJobs(4));
    await events.until('started');

    runner.pause();
    await events.untilCount(3, 'released');
    open();
    await events.until('completed');
    await runner.whenIdle();

    expect((await admin.find({ state: 'waiting' })).jobs).toMatchObject(
      Array.from({ length: 3 }, () => ({ attempt: 0, error: null })),
    );
  });
});
