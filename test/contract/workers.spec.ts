import { describeStores } from '../support/stores.js';

describeStores('a worker', (setup) => {
  const worker = { id: 'worker-1', host: 'host', pid: 7, queues: ['a', 'b'] };
  const DAY_MS = 86_400_000;

  it('is listed once it is registered', async () => {
    const { workers, admin } = await setup();

    await workers.register(worker);

    expect(await admin.workers()).toMatchObject([worker]);
  });

  it('is listed with the queues that its process has a handler for and leaves to others', async () => {
    const { workers, admin } = await setup();

    await workers.register({ ...worker, excluded: ['c'] });
    await workers.register({ ...worker, id: 'worker-2' });

    const excluded = (await admin.workers()).map((each) => [each.id, each.excluded]);
    expect(Object.fromEntries(excluded)).toEqual({ 'worker-1': ['c'], 'worker-2': [] });
  });

  it('creates its queues, once each', async () => {
    const { workers, admin, open } = await setup();
    const other = await open();

    await Promise.all([
      workers.register(worker),
      other.workers.register({ ...worker, id: 'worker-2', queues: ['b', 'c'] }),
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
