import { abortOf, describeEngines, gate, plain } from '../support/engines.js';
import { FakeClock } from '../support/fake-clock.js';

describeEngines('a job that somebody cancels', (setup) => {
  it.each([{}, { delay: '1h' } as const])('before it runs (%j) never runs', async (options) => {
    const world = await setup();
    const { producer, admin, runner, events } = await world.start({ handlers: { q: () => 'ran' }, autoStart: false });
    const { id } = await producer.enqueue('q', 0, options);

    const cancelled = await admin.cancel(id);
    world.advance(7_200_000);
    await runner.start();
    await runner.whenIdle();

    expect(cancelled).toBe(true);
    expect(events.all).toMatchObject([{ event: 'cancelled', jobId: id, attempt: 0 }]);
    expect(await admin.get(id)).toMatchObject({ state: 'cancelled', attempt: 0 });
    expect(await admin.cancel(id)).toBe(false);
  });

  it('while it runs, in this process or another, has its signal aborted and ends cancelled', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const worker = await world.start({
      clock,
      handlers: {
        q: async ({ signal }) => (await abortOf(signal)).throwIfAborted(),
      },
    });
    const elsewhere = await world.start({ clock, autoStart: false });
    const [here, there] = await worker.producer.enqueueMany('q', [{ payload: 0 }, { payload: 0 }]);
    await worker.events.untilCount(2, 'started');

    await worker.admin.cancel(here!.id);
    await worker.events.until('cancelled', { jobId: here!.id });
    await elsewhere.admin.cancel(there!.id);
    await clock.resting(10_000, 2);
    await clock.advance(10_000);
    await worker.events.until('cancelled', { jobId: there!.id });

    expect(await worker.admin.counts('q')).toMatchObject({ cancelled: 2, active: 0 });
  });

  // The lease lasts so long that no heartbeat tells the worker of it.
  it.each([
    ['that has room for more', { concurrency: 2 }],
    ['that has no room', { concurrency: 1, prefetch: 0 }],
    ['that has prefetched it', { concurrency: 1, prefetch: 2 }],
  ] as const)('in a worker %s, by another process, is cancelled at once', async (what, options) => {
    const world = await setup();
    const worker = await world.start({
      queues: { q: { lease: '1h', ...options } },
      worker: { poll: { min: '1h', max: '1h' } },
      handlers: { q: async ({ signal }) => (await abortOf(signal)).throwIfAborted() },
    });
    const elsewhere = await world.start({ autoStart: false });
    const isPrefetched = what === 'that has prefetched it';
    const ids = (await worker.producer.enqueueMany('q', plain(isPrefetched ? 2 : 1))).map(({ id }) => id);
    await worker.events.until('started');
    await worker.doorbell.untilListening();

    await elsewhere.producer.cancel(ids.at(-1)!);
    await worker.events.until('cancelled');

    expect(worker.events.jobs('cancelled')).toEqual([ids.at(-1)]);
    await elsewhere.admin.cancel(ids[0]!);
    await worker.events.untilCount(ids.length, 'cancelled');
    // Nor did it begin to listen anew meanwhile, and look by itself.
    expect(worker.doorbell.heard).not.toContain('nothing');
  });

  it('while its worker listens to nothing is cancelled as soon as it listens again', async () => {
    const world = await setup();
    const worker = await world.start({
      queues: { q: { lease: '1h', concurrency: 1, prefetch: 0 } },
      worker: { poll: { min: '1h', max: '1h' } },
      handlers: { q: async ({ signal }) => (await abortOf(signal)).throwIfAborted() },
    });
    const elsewhere = await world.start({ autoStart: false });
    const { id } = await worker.producer.enqueue('q', 0);
    await worker.events.until('started');

    await elsewhere.admin.cancel(id);

    await worker.events.until('cancelled');
  });

  it('while it waits here behind another one never runs, and those behind it do', async () => {
    const world = await setup();
    const { open, opened } = gate();
    const { producer, admin, runner, events } = await world.start({
      // The database is told that the second may begin too, and not that the third may.
      ...{ queues: { q: { concurrency: 1, prefetch: 5 } }, autoStart: false },
      handlers: { q: () => opened },
    });
    const ids = (await producer.enqueueMany('q', plain(6))).map(({ id }) => id);
    await runner.start();
    await events.until('started');

    for (const id of [ids[1]!, ids[2]!]) await admin.cancel(id);
    await events.untilCount(2, 'cancelled');
    open();
    await runner.whenIdle();

    expect(events.jobs('started')).toEqual([ids[0], ...ids.slice(3)]);
    expect(events.jobs('completed')).toEqual([ids[0], ...ids.slice(3)]);
    expect(await world.sql('SELECT id FROM sql_queue_claims')).toEqual([]);
  });

  it('by a producer that has never seen it, and fails before its worker has heard of that, does not run again', async () => {
    const world = await setup();
    const { open, opened } = gate();
    const worker = await world.start({
      handlers: {
        q: async () => {
          await opened;
          throw new Error('no luck');
        },
      },
    });
    const { producer } = await world.start({ autoStart: false });
    const { id } = await worker.producer.enqueue('q', 0);
    await worker.events.until('started');

    const cancelled = await producer.cancel(id);
    open();
    await worker.events.until('cancelled', { jobId: id });

    expect(cancelled).toBe(true);
    expect(worker.events.of('failed')).toEqual([]);
    expect(await worker.admin.get(id)).toMatchObject({ state: 'cancelled', attempt: 1 });
    expect(await producer.cancel(id)).toBe(false);
  });

  it('while it runs, and that completes all the same, is completed', async () => {
    const world = await setup();
    const worker = await world.start({
      handlers: { q: ({ signal }) => abortOf(signal).then(() => 'done') },
    });
    const { id } = await worker.producer.enqueue('q', 0);
    await worker.events.until('started');

    await worker.admin.cancel(id);
    await worker.events.until('completed');

    expect(await worker.admin.get(id)).toMatchObject({ state: 'completed', result: 'done' });
  });
});
