import { describeStores } from '../support/stores.js';

describeStores('a worker', (setup) => {
  const worker = {
    id: 'worker-1',
    host: 'host',
    pid: 7,
    queues: new Map([
      ['a', 1],
      ['b', 1],
    ]),
  };
  const DAY_MS = 86_400_000;

  it('is listed once it is registered', async () => {
    const { workers, admin } = await setup();

    await workers.register(worker);

    expect(await admin.workers()).toMatchObject([
      {
        ...{ id: 'worker-1', host: 'host', pid: 7, slots: null },
        queues: ['a', 'b'].map((queue) => ({ queue, slots: 1, running: 0, prefetched: 0 })),
      },
    ]);
  });

  it('is listed with the queues that its process has a handler for and leaves to others', async () => {
    const { workers, admin } = await setup();

    await workers.register({ ...worker, excluded: ['c'] });
    await workers.register({ ...worker, id: 'worker-2' });

    const excluded = (await admin.workers()).map((each) => [each.id, each.excluded]);
    expect(Object.fromEntries(excluded)).toEqual({ 'worker-1': ['c'], 'worker-2': [] });
  });

  it('is listed with the jobs of each queue that it has started, and those that it has prefetched', async () => {
    const { workers, admin, put, claim } = await setup();
    await workers.register({ ...worker, slots: 50, queues: new Map(Object.entries({ q: 20, a: 1 })) });
    await workers.register({ ...worker, id: 'worker-2', queues: new Map([['q', 20]]) });
    await put(...Array.from({ length: 7 }, () => ({})));
    await claim({ workerId: 'worker-1', limit: 4, startLimit: 1 });
    await claim({ workerId: 'worker-1', limit: 2, startLimit: 2 });

    await workers.setQueues('worker-2', new Map([['q', 30]]));

    const listed = (await admin.workers()).map(({ id, slots, queues }) => ({ id, slots, queues }));
    expect(listed).toEqual([
      {
        ...{ id: 'worker-1', slots: 50 },
        queues: [
          { queue: 'q', slots: 20, running: 3, prefetched: 3 },
          { queue: 'a', slots: 1, running: 0, prefetched: 0 },
        ],
      },
      { id: 'worker-2', slots: null, queues: [{ queue: 'q', slots: 30, running: 0, prefetched: 0 }] },
    ]);
  });

  it('creates its queues, once each', async () => {
    const { workers, admin, open } = await setup();
    const other = await open();

    await Promise.all([
      workers.register(worker),
      other.workers.register({
        ...worker,
        id: 'worker-2',
        queues: new Map([
          ['b', 1],
          ['c', 1],
        ]),
      }),
    ]);

    expect((await admin.queues()).map(({ queue }) => queue)).toEqual(['a', 'b', 'c']);
  });

  it('keeps the pause of a queue unchanged', async () => {
    const { workers, admin } = await setup();
    await admin.setPaused(['a'], true);

    await workers.register(worker);

    expect(await admin.queues()).toMatchObject([
      { queue: 'a', paused: true },
      { queue: 'b', paused: false },
    ]);
  });

  it('can register again if it did not receive the answer', async () => {
    const { workers, admin } = await setup();
    await workers.register(worker);

    await workers.register(worker);

    expect(await admin.workers()).toHaveLength(1);
  });

  it('updates the time at which it was last seen', async () => {
    const { workers, admin, advance } = await setup();
    await workers.register(worker);

    advance(5_000);
    await workers.markSeen(worker.id);

    const [entry] = await admin.workers();
    expect(entry!.seenAt.getTime() - entry!.startedAt.getTime()).toBeGreaterThanOrEqual(5_000);
  });

  it('is silent after a minute without a heartbeat', async () => {
    const { workers, admin, advance } = await setup();
    await workers.register(worker);

    advance(30_000);
    const [alive] = await admin.workers();
    advance(30_001);
    const [silent] = await admin.workers();
    await workers.markSeen(worker.id);
    const [again] = await admin.workers();

    expect([alive!.isSilent, silent!.isSilent, again!.isSilent]).toEqual([false, true, false]);
  });

  it('is not listed after it deregisters', async () => {
    const { workers, admin } = await setup();
    await workers.register(worker);

    await workers.deregister(worker.id);

    expect(await admin.workers()).toEqual([]);
  });

  it('is deleted after a day without a sign of life, when another one registers', async () => {
    const { workers, admin, advance } = await setup();
    await workers.register(worker);

    advance(DAY_MS + 1);
    await workers.register({ ...worker, id: 'worker-2' });

    expect((await admin.workers()).map(({ id }) => id)).toEqual(['worker-2']);
  });
});
