import { describeStores } from '../support/stores.js';

describeStores('a worker', (setup) => {
  const worker = { id: 'worker-1', host: 'host', pid: 7, queues: ['a', 'b'] };
  const DAY_MS = 86_400_000;

  it('is seen by people once it has entered', async () => {
    const { jobs, admin } = await setup();

    await jobs.enter(worker);

    expect(await admin.workers()).toMatchObject([worker]);
  });

  it('makes its queues known, once each', async () => {
    const { jobs, admin, open } = await setup();
    const other = await open();

    await Promise.all([jobs.enter(worker), other.jobs.enter({ ...worker, id: 'worker-2', queues: ['b', 'c'] })]);

    expect((await admin.queues()).map(({ queue }) => queue)).toEqual(['a', 'b', 'c']);
  });

  it('leaves the pause of a queue as it is', async () => {
    const { jobs, admin } = await setup();
    await admin.setPaused('a', true);

    await jobs.enter(worker);

    expect(await admin.queues()).toMatchObject([
      { queue: 'a', paused: true },
      { queue: 'b', paused: false },
    ]);
  });

  it('may enter again when it did not hear the answer', async () => {
    const { jobs, admin } = await setup();
    await jobs.enter(worker);

    await jobs.enter(worker);

    expect(await admin.workers()).toHaveLength(1);
  });

  it('notes that it is still there', async () => {
    const { jobs, admin, advance } = await setup();
    await jobs.enter(worker);

    advance(5_000);
    await jobs.seen(worker.id);

    const [entry] = await admin.workers();
    expect(entry!.seenAt.getTime() - entry!.startedAt.getTime()).toBeGreaterThanOrEqual(5_000);
  });

  it('is gone when it has left', async () => {
    const { jobs, admin } = await setup();
    await jobs.enter(worker);

    await jobs.leave(worker.id);

    expect(await admin.workers()).toEqual([]);
  });

  it('that never left is forgotten after a day, when another one enters', async () => {
    const { jobs, admin, advance } = await setup();
    await jobs.enter(worker);

    advance(DAY_MS + 1);
    await jobs.enter({ ...worker, id: 'worker-2' });

    expect((await admin.workers()).map(({ id }) => id)).toEqual(['worker-2']);
  });
});
