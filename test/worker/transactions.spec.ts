import { describeEngines, gate, type World } from '../support/engines.js';
import { instantClock } from '../support/fake-clock.js';

const LEASE_MS = 30_000;

describeEngines('job.transaction()', (setup) => {
  it('commits its writes and the completion together, even if the handler throws later', async () => {
    const world = await withEffects(await setup());
    const { producer, events, admin, log } = await world.start({
      handlers: {
        q: async (job) => {
          await job.transaction((manager) => manager.query('INSERT INTO effects VALUES (1)'));
          throw new Error('too late');
        },
      },
    });

    const { id } = await producer.enqueue('q', 0);
    await events.until('completed');

    expect(await admin.get(id)).toMatchObject({ state: 'completed', attempt: 1 });
    expect(await effects(world)).toBe(1);
    expect(log.filter((line) => line.includes('too late'))).toHaveLength(1);
    expect(events.of('failed')).toEqual([]);
  });

  it('writes nothing if its callback throws, and the attempt fails', async () => {
    const world = await withEffects(await setup());
    const { producer, events } = await world.start({
      queues: { q: { retry: { attempts: 2, backoff: 0 } } },
      handlers: {
        q: (job) =>
          job.transaction(async (manager) => {
            await manager.query('INSERT INTO effects VALUES (1)');
            if (job.attempt === 1) throw new Error('no');
            return 'yes';
          }),
      },
    });

    await producer.enqueue('q', 0);
    await events.until('failed');
    const afterFailure = await effects(world);
    const completed = await events.until('completed');

    expect(afterFailure).toBe(0);
    expect(completed).toMatchObject({ attempt: 2, result: 'yes' });
    expect(await effects(world)).toBe(1);
  });

  it('writes nothing if the lease was lost, and the other run takes effect once', async () => {
    const world = await withEffects(await setup());
    const { open, opened } = gate();
    const caught: unknown[] = [];
    const first = await world.start({
      handlers: {
        q: async (job) => {
          await opened;
          await job
            .transaction((manager) => manager.query('INSERT INTO effects VALUES (1)'))
            .catch((error: unknown) => {
              caught.push(error);
              throw error;
            });
        },
      },
    });
    await first.producer.enqueue('q', 0);
    await first.events.until('started');
    await first.runner.quiet();

    const second = await world.start({
      handlers: { q: (job) => job.transaction((manager) => manager.query('INSERT INTO effects VALUES (2)')) },
    });
    world.advance(LEASE_MS + 1);
    await second.events.until('completed');
    open();
    await first.events.until('lost');

    expect(caught).toMatchObject([{ code: 'LEASE_LOST' }]);
    expect(await world.sql('SELECT id FROM effects')).toEqual([{ id: 2 }]);
  });

  it.each([
    ['', false],
    [', even if the handler catches the error', true],
  ])('fails the run if its transaction is lost, and completes with the next one%s', async (_also, isCaught) => {
    const world = await withEffects(await setup());
    const { producer, events, admin } = await world.start({
      handlers: {
        q: (job) =>
          job
            .transaction(async (manager) => {
              if (job.attempt === 1) await manager.query('ROLLBACK');
              else await manager.query('INSERT INTO effects VALUES (1)');
            })
            .catch((error: unknown) => {
              if (!isCaught) throw error;
            }),
      },
    });

    const { id } = await producer.enqueue('q', 0);
    const failed = await events.until('failed');
    await events.until('completed');

    expect(failed).toMatchObject({ attempt: 1, error: { name: 'TransactionLostError', code: 'TRANSACTION_LOST' } });
    expect(await admin.get(id)).toMatchObject({ state: 'completed', attempt: 2 });
    expect(await effects(world)).toBe(1);
  });
});

describeEngines('a job enqueued in a transaction', (setup, server) => {
  it('exists once if the transaction commits, and the worker of its process is notified', async () => {
    const world = await setup();
    const { producer, events, admin } = await world.start({
      worker: { poll: { min: '1h', max: '1h' } },
      handlers: { q: () => 'done' },
    });

    const jobs = await world.dataSource.transaction((manager) =>
      Promise.all([producer.enqueue('q', 1, { manager }), producer.withManager(manager).enqueue('q', 2)]),
    );
    await events.untilCount(2, 'completed');

    expect(new Set(events.jobs('completed'))).toEqual(new Set(jobs.map(({ id }) => id)));
    expect(await admin.counts('q')).toMatchObject({ completed: 2, waiting: 0 });
  });

  it('does not exist if the transaction rolls back', async () => {
    const world = await setup();
    const { producer, events, admin, runner } = await world.start({ handlers: { q: () => 'done' } });

    const rollback = world.dataSource.transaction(async (manager) => {
      await producer.enqueue('q', 0, { manager });
      throw new Error('roll back');
    });
    await expect(rollback).rejects.toThrow('roll back');
    await runner.whenIdle();

    expect(events.all).toEqual([]);
    expect(Object.values(await admin.counts('q')).every((count) => count === 0)).toBe(true);
  });

  it('is independent of another transaction that rolls back', async () => {
    const world = await withEffects(await setup());
    const { producer, events, admin } = await world.start({ handlers: { q: () => 'done' } });
    const unrelated = world.dataSource.createQueryRunner();
    await unrelated.startTransaction();
    // On SQLite an open write blocks every other writer; an open read does not.
    await unrelated.query(server.name === 'sqlite' ? 'SELECT id FROM effects' : 'INSERT INTO effects VALUES (1)');

    const { id } = await producer.enqueue('q', 0);
    await events.until('completed');
    await unrelated.rollbackTransaction();
    await unrelated.release();

    expect(await admin.get(id)).toMatchObject({ state: 'completed', attempt: 1 });
    expect(await effects(world)).toBe(0);
  });
});

describeEngines(
  'enqueue() on a file with an open write transaction of the application',
  (setup) => {
    it('waits for the end of that transaction, and is not rolled back with it', async () => {
      const world = await withEffects(await setup());
      const { producer, admin } = await world.start({ autoStart: false });
      const unrelated = world.dataSource.createQueryRunner();
      await unrelated.startTransaction();
      await unrelated.query('INSERT INTO effects VALUES (1)');

      const enqueuing = producer.enqueue('q', 0);
      await unrelated.rollbackTransaction();
      const { id } = await enqueuing;

      expect(await admin.get(id)).toMatchObject({ state: 'waiting' });
      expect(await effects(world)).toBe(0);
    });

    it('names the missing manager in its error if that transaction waits for it', async () => {
      const world = await withEffects(await setup());
      const { producer } = await world.start({ autoStart: false, storeClock: instantClock() });

      const stuck = world.dataSource.transaction(async (manager) => {
        await manager.query('INSERT INTO effects VALUES (1)');
        await producer.enqueue('q', 0);
      });

      await expect(stuck).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        outcome: 'not-done',
        message: expect.stringContaining('pass its `manager`') as string,
      });
      await producer.enqueue('q', 0);
    });
  },
  ['sqlite'],
);

async function withEffects(world: World): Promise<World> {
  await world.sql('CREATE TABLE effects (id INTEGER PRIMARY KEY)');
  return world;
}

async function effects({ sql }: World): Promise<number> {
  return (await sql('SELECT id FROM effects')).length;
}
