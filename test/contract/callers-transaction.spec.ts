import { newJob } from '../support/jobs.js';
import { producerOn } from '../support/producer-on.js';
import { describeStores } from '../support/stores.js';

describeStores('enqueueing in the caller’s transaction', (setup, { inMemory }) => {
  it('puts the job in exactly once when it commits', async () => {
    const { dataSource, jobs, claim } = await setup();

    const ids = await dataSource.transaction((manager) => jobs.enqueue([newJob(), newJob()], manager));

    const taken = await claim({ limit: 9 });
    expect(taken.jobs.map(({ id }) => id)).toEqual(ids);
  });

  it('puts nothing in when it rolls back', async () => {
    const { dataSource, jobs, claim } = await setup();

    const work = dataSource.transaction(async (manager) => {
      await jobs.enqueue([newJob()], manager);
      throw new Error('no');
    });

    await expect(work).rejects.toThrow('no');
    expect((await claim()).jobs).toEqual([]);
  });

  it('shows the job to nobody before it commits', async () => {
    const { dataSource, jobs, claim } = await setup();
    if (inMemory) return; // One connection: whoever else asks waits for the end of the transaction.

    await dataSource.transaction(async (manager) => {
      await jobs.enqueue([newJob()], manager);
      if (dataSource.options.type === 'better-sqlite3') return; // A claim waits for the writer.

      expect((await claim()).jobs).toEqual([]);
    });

    expect((await claim()).jobs).toHaveLength(1);
  });

  it('takes a query runner as well as a manager', async () => {
    const { dataSource, jobs, claim } = await setup();
    const runner = dataSource.createQueryRunner();
    await runner.startTransaction();

    await jobs.enqueue([newJob()], runner);
    await runner.rollbackTransaction();
    await runner.release();

    expect((await claim()).jobs).toEqual([]);
  });

  it('is refused with the manager of another DataSource', async () => {
    const { connect, jobs } = await setup();
    const other = await connect();

    const enqueued = other.transaction((manager) => jobs.enqueue([newJob()], manager));

    await expect(enqueued).rejects.toThrow(/expected a manager of the DataSource that holds the queue/);
  });

  it('is refused with what is no manager', async () => {
    const { jobs } = await setup();

    await expect(jobs.enqueue([newJob()], {} as never)).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
  });

  it('with a manager that is in no transaction enqueues at once', async () => {
    const { dataSource, jobs, claim } = await setup();

    await jobs.enqueue([newJob()], dataSource.manager);

    expect((await claim()).jobs).toHaveLength(1);
  });

  it('answers the ids of more jobs than one statement holds', async () => {
    const { dataSource, jobs, admin } = await setup();
    const many = Array.from({ length: 2_500 }, (_, n) => newJob({ payload: `${n}` }));

    const ids = await dataSource.transaction((manager) => jobs.enqueue(many, manager));

    expect(new Set(ids).size).toBe(2_500);
    expect((await admin.get(ids[0]!))?.payload).toBe(0);
    expect((await admin.get(ids[1_700]!))?.payload).toBe(1_700);
    expect((await admin.get(ids[2_499]!))?.payload).toBe(2_499);
  });
});

describeStores('a producer in the caller’s transaction', (setup) => {
  it('counts what waits without waiting for the end of it', async () => {
    const world = await setup();
    const producer = producerOn(world, () => ({ maxWaiting: 2 }));

    const refused = await world.dataSource.transaction(async (manager) => {
      await producer.enqueue('q', 0, { manager });
      await producer.publish('nobody', 0, { manager });
      await producer.enqueueMany('other', [{ payload: 0 }, { payload: 0 }], { manager });
      return producer.enqueueMany('q', [{ payload: 0 }, { payload: 0 }], { manager }).catch((error: unknown) => error);
    });

    expect(refused).toMatchObject({ code: 'QUEUE_FULL', waiting: 1 });
    expect(await world.admin.counts()).toMatchObject({ waiting: 3 });
  });

  it('does not wait for the count of somebody who waits for the end of it', async () => {
    const world = await setup();
    const producer = producerOn(world, () => ({ maxWaiting: 2 }));

    const outside = await world.dataSource.transaction(async (manager) => {
      const waiting = producer.enqueue('q', 0);
      await producer.enqueue('q', 0, { manager });
      return { waiting };
    });
    await outside.waiting;

    expect(await world.admin.counts()).toMatchObject({ waiting: 2 });
  });
});
