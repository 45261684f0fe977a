import { untilAborted, describeEngines, gate, plainJobs } from '../support/engines.js';
import { FakeClock } from '../support/fake-clock.js';

describeEngines('a cancelled job', (setup) => {
  it.each([{}, { delay: '1h' } as const])('never runs if it is cancelled before its run (%j)', async (options) => {
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

  it('has its signal aborted and ends as cancelled if this process or another one cancels its run', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const worker = await world.start({
      clock,
      handlers: {
        q: async ({ signal }) => (await untilAborted(signal)).throwIfAborted(),
      },
    });
    const elsewhere = await world.start({ clock, autoStart: false });
    const [here, there] = await worker.producer.enqueueMany('q', [{ payload: 0 }, { payload: 0 }]);
    await worker.events.untilCount(2, 'started');

    await worker.admin.cancel(here!.id);
    await worker.events.until('cancelled', { jobId: here!.id });
    await elsewhere.admin.cancel(there!.id);
    await clock.untilSleeping(10_000, 2);
    await clock.advance(10_000);
    await worker.events.until('cancelled', { jobId: there!.id });

    expect(await worker.admin.counts('q')).toMatchObject({ cancelled: 2, active: 0 });
  });

  // No heartbeat can report the cancellation within this lease.
  it.each([
    ['with a free slot', { concurrency: 2 }],
    ['without a free slot', { concurrency: 1, prefetch: 0 }],
    ['with the job prefetched', { concurrency: 1, prefetch: 2 }],
  ] as const)('is cancelled at once by another process in a worker %s', async (what, options) => {
    const world = await setup();
    const worker = await world.start({
      queues: { q: { lease: '1h', ...options } },
      worker: { poll: { min: '1h', max: '1h' } },
      handlers: { q: async ({ signal }) => (await untilAborted(signal)).throwIfAborted() },
    });
    const elsewhere = await world.start({ autoStart: false });
    // A worker that claims while it begins to listen would listen again after the claim.
    await worker.workerChannel.untilListening('q');
    const heard = worker.workerChannel.received.length;
    const isPrefetched = what === 'with the job prefetched';
    const ids = (await worker.producer.enqueueMany('q', plainJobs(isPrefetched ? 2 : 1))).map(({ id }) => id);
    await worker.events.until('started');
    await worker.workerChannel.untilListening();

    await elsewhere.producer.cancel(ids.at(-1)!);
    await worker.events.until('cancelled');

    expect(worker.events.jobs('cancelled')).toEqual([ids.at(-1)]);
    await elsewhere.admin.cancel(ids[0]!);
    await worker.events.untilCount(ids.length, 'cancelled');
    // The worker did not restart its listening connection, which would have made it poll.
    expect(worker.workerChannel.received.slice(heard)).not.toContain('none');
  });

  it('ends as soon as its worker listens again, if the request came while it did not listen', async () => {
    const world = await setup();
    const worker = await world.start({
      queues: { q: { lease: '1h', concurrency: 1, prefetch: 0 } },
      worker: { poll: { min: '1h', max: '1h' } },
      handlers: { q: async ({ signal }) => (await untilAborted(signal)).throwIfAborted() },
    });
    const elsewhere = await world.start({ autoStart: false });
    const { id } = await worker.producer.enqueue('q', 0);
    await worker.events.until('started');

    await elsewhere.admin.cancel(id);

    await worker.events.until('cancelled');
  });

  it('never runs if it is cancelled while prefetched, and the jobs after it run', async () => {
    const world = await setup();
    const { open, opened } = gate();
    const { producer, admin, runner, events } = await world.start({
      // The worker marks the second job as startable in the database, and not the third.
      ...{ queues: { q: { concurrency: 1, prefetch: 5 } }, autoStart: false },
      handlers: { q: () => opened },
    });
    const ids = (await producer.enqueueMany('q', plainJobs(6))).map(({ id }) => id);
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

  it('does not run again if it fails before its worker knows of the cancellation by another producer', async () => {
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

  it('is completed if its handler returns despite the cancellation request', async () => {
    const world = await setup();
    const worker = await world.start({
      handlers: { q: ({ signal }) => untilAborted(signal).then(() => 'done') },
    });
    const { id } = await worker.producer.enqueue('q', 0);
    await worker.events.until('started');

    await worker.admin.cancel(id);
    await worker.events.until('completed');

    expect(await worker.admin.get(id)).toMatchObject({ state: 'completed', result: 'done' });
  });
});
