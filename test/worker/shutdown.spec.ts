import { untilAborted, describeEngines, gate, plainJobs } from '../support/engines.js';
import { FakeClock } from '../support/fake-clock.js';

describeEngines('a worker that stops', (setup) => {
  it('claims no more jobs, releases prefetched jobs without a counted attempt, and waits for running jobs', async () => {
    const world = await setup();
    const { open, opened } = gate();
    const { producer, events, admin, runner, log } = await world.start({
      queues: { q: { concurrency: 2, prefetch: 5 } },
      handlers: { q: () => opened },
    });
    await producer.enqueueMany('q', plainJobs(6));
    await events.untilCount(2, 'started');

    await runner.quiet();
    const stopped = runner.stop();
    await events.untilCount(4, 'released');
    const whileStopping = runner.state;
    open();
    await stopped;

    expect([whileStopping, runner.state]).toEqual(['stopping', 'stopped']);
    expect(await admin.counts('q')).toMatchObject({ completed: 2, waiting: 4, active: 0 });
    expect((await admin.find({ state: 'waiting' })).jobs).toMatchObject(
      Array.from({ length: 4 }, () => ({ attempt: 0, error: null })),
    );
    expect(await admin.workers()).toEqual([]);
    expect(await world.sql('SELECT id FROM sql_queue_claims')).toEqual([]);
    expect(log.filter((line) => line.startsWith('error'))).toEqual([]);
  });

  it('aborts jobs that outlast its deadline, and releases those that ignore the signal', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const { opened } = gate();
    const reasons: string[] = [];
    const { producer, events, admin, runner } = await world.start({
      clock,
      handlers: {
        q: async ({ payload, signal }) => {
          await (payload === 'deaf' ? opened : untilAborted(signal));
          reasons.push((signal.reason as { code: string }).code);
          signal.throwIfAborted();
        },
      },
    });
    await producer.enqueueMany('q', [{ payload: 'heeds' }, { payload: 'deaf' }]);
    await events.untilCount(2, 'started');

    const stopped = runner.stop({ timeout: '20s' });
    await clock.untilSleeping(20_000);
    await clock.advance(20_000);
    await events.untilCount(1, 'released');
    await clock.untilSleeping(1_000);
    await clock.advance(1_000);
    await stopped;

    expect(reasons).toEqual(['SHUTDOWN']);
    expect(events.of('released')).toHaveLength(2);
    expect((await admin.find({ state: 'waiting' })).jobs).toMatchObject(
      Array.from({ length: 2 }, () => ({ attempt: 0, error: null })),
    );
  });

  it('can be started again, and works as before', async () => {
    const world = await setup();
    const { producer, events, runner } = await world.start({ handlers: { q: () => 'done' } });

    await Promise.all([runner.stop(), runner.stop()]);
    const { id } = await producer.enqueue('q', 0);
    await runner.start();
    await runner.start();

    expect(await events.until('completed')).toMatchObject({ jobId: id });
  });
});
