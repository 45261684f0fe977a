import { describeEngines, plain } from '../support/engines.js';
import { FakeClock } from '../support/fake-clock.js';

// The random number of these engines is 0.5, and a rest is up to a fifth longer.
const JITTERED = 1.1;

describeEngines('a worker without work', (setup) => {
  it('looks less and less often, down to its slowest pace, and quickly again after a wake-up', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const { runner, producer, events } = await world.start({
      clock,
      worker: { poll: { min: '100ms', max: '1s' } },
      handlers: { q: () => 'done' },
    });
    const pace = [200, 400, 800, 1_000, 1_000].map((ms) => ms * JITTERED);

    for (const rest of pace) {
      await clock.resting(rest);
      await clock.advance(rest);
    }
    await clock.resting(pace.at(-1)!);
    await producer.enqueue('q', 0);
    await events.until('completed');
    await runner.whenIdle();
    await clock.resting(pace[0]!);

    expect(clock.rests.filter((ms) => pace.includes(ms)).slice(0, 5)).toEqual(pace);
  });

  it('sleeps no longer than until the next job is due', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const { producer, events, runner } = await world.start({
      clock,
      worker: { poll: { min: '1h', max: '1h' } },
      handlers: { q: () => 'done' },
    });
    await clock.resting(3_600_000 * JITTERED);

    await producer.enqueue('q', 0, { delay: '10s' });
    await runner.whenIdle();
    await clock.advance(10_000);
    await events.until('completed');

    expect(clock.elapsedMs).toBe(10_000);
  });

  it('is idle when nothing runs, waits or is due, and not before', async () => {
    const world = await setup();
    const { producer, events, admin, runner } = await world.start({ handlers: { q: () => 'done' } });

    await producer.enqueueMany('q', plain(50));
    await producer.enqueue('q', 0, { delay: '1h' });
    await runner.whenIdle();

    expect(events.of('completed')).toHaveLength(50);
    expect(await admin.counts('q')).toMatchObject({ completed: 50, waiting: 0, active: 0, scheduled: 1 });
  });

  it('finds jobs that another process has enqueued', async () => {
    const world = await setup();
    const worker = await world.start({ handlers: { q: () => 'done' } });
    const { producer } = await world.start({ autoStart: false });
    await worker.runner.whenIdle();

    const { id } = await producer.enqueue('q', 0);

    expect(await worker.events.until('completed')).toMatchObject({ jobId: id });
  });
});
