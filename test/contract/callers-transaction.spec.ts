import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import { newJob } from '../support/jobs.js';
import { keyedJob } from '../support/keyed-job.js';
import { openProducer } from '../support/open-producer.js';
import { describeStores } from '../support/stores.js';

// TypeORM has one query runner on SQLite, which it never releases.
const ENDED = /got one whose (transaction has ended|QueryRunner has no open transaction)/;

describeStores('an enqueue in the caller’s transaction', (setup, { inMemory }) => {
  it('stores each job exactly once when the transaction commits', async () => {
    const { dataSource, jobs, claim } = await setup();

    const ids = await dataSource.transaction((manager) => jobs.enqueue([newJob(), newJob()], manager));

    const taken = await claim({ limit: 9 });
    expect(taken.jobs.map(({ id }) => id)).toEqual(ids);
  });

  it('stores nothing when the transaction rolls back', async () => {
    const { dataSource, jobs, claim } = await setup();

    const work = dataSource.transaction(async (manager) => {
      await jobs.enqueue([newJob()], manager);
      throw new Error('no');
    });

    await expect(work).rejects.toThrow('no');
    expect((await claim()).jobs).toEqual([]);
  });

  it('stores a job that is invisible to claims until the commit', async () => {
    const { dataSource, jobs, claim } = await setup();
    if (inMemory) return; // One connection: each other caller waits for the end of the transaction.

    await dataSource.transaction(async (manager) => {
      await jobs.enqueue([newJob()], manager);
      if (dataSource.options.type === 'better-sqlite3') return; // A claim waits for the writer.

      expect((await claim()).jobs).toEqual([]);
    });

    expect((await claim()).jobs).toHaveLength(1);
  });

  it('accepts a query runner as well as a manager', async () => {
    const { dataSource, jobs, claim } = await setup();
    const runner = dataSource.createQueryRunner();
    await runner.startTransaction();

    await jobs.enqueue([newJob()], runner);
    await runner.rollbackTransaction();
    await runner.release();

    expect((await claim()).jobs).toEqual([]);
  });

  it('is rejected with the manager of another DataSource', async () => {
    const { connect, jobs } = await setup();
    const other = await connect();

    const enqueued = other.transaction((manager) => jobs.enqueue([newJob()], manager));

    await expect(enqueued).rejects.toThrow(/expected a manager of the DataSource that holds the queue/);
  });

  it('is rejected with an object that is not a manager', async () => {
    const { jobs } = await setup();

    await expect(jobs.enqueue([newJob()], {} as never)).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
  });

  it.each([
    ['dataSource.manager', managerOfNone, 'got one that is in no transaction, as dataSource.manager is'],
    ['a manager whose transaction has ended', managerOfEnded, ENDED],
    ['a manager whose transaction was rolled back', managerOfRolledBack, ENDED],
    ['a QueryRunner without a transaction', runnerOfNone, 'got one whose QueryRunner has no open transaction'],
  ])('is rejected with %s by every enqueue method', async (_title, given, problem) => {
    const world = await setup();
    const producer = openProducer(world, () => ({ maxWaiting: 9 }));
    const manager = await given(world.dataSource);

    const enqueues = [
      () => producer.enqueue('q', 0, { manager }),
      () => producer.enqueue('q', 0, { manager, key: 'k' }),
      () => producer.enqueueMany('q', [{ payload: 0 }], { manager }),
      () => producer.publish('topic', 0, { manager }),
      () => producer.withManager(manager).enqueue('q', 0),
      () => world.jobs.enqueue([newJob()], manager),
      () => world.jobs.enqueueKeyedInTransaction([keyedJob({ key: 'k' })], manager),
    ];

    for (const enqueue of enqueues) {
      const error = await enqueue().catch((each: unknown) => each as Error);
      expect(error).toMatchObject({ code: 'INVALID_OPTIONS' });
      expect(error).toMatchObject({ message: expect.stringMatching(problem) });
      expect(error).toMatchObject({ message: expect.stringContaining('dataSource.transaction(async (manager) => …)') });
    }
    expect(await world.sql('SELECT id FROM sql_queue_jobs')).toEqual([]);
    expect(await world.sql('SELECT key_hash FROM sql_queue_keys')).toEqual([]);
  });

  it('is rejected with dataSource.manager while the transaction of another manager is open', async () => {
    const { dataSource, jobs, sql } = await setup();

    const refused = await dataSource.transaction(() =>
      jobs.enqueue([newJob()], dataSource.manager).catch((error: unknown) => error),
    );

    expect(refused).toMatchObject({ code: 'INVALID_OPTIONS' });
    expect(await sql('SELECT id FROM sql_queue_jobs')).toEqual([]);
  });

  it('joins a savepoint of the transaction', async () => {
    const { dataSource, jobs, claim } = await setup();

    await dataSource.transaction((outer) => outer.transaction((inner) => jobs.enqueue([newJob()], inner)));

    expect((await claim()).jobs).toHaveLength(1);
  });

  it('returns the ids of more jobs than one statement holds', async () => {
    const { dataSource, jobs, admin } = await setup();
    const many = Array.from({ length: 2_500 }, (_, n) => newJob({ payload: `${n}` }));

    const ids = await dataSource.transaction((manager) => jobs.enqueue(many, manager));

    expect(new Set(ids).size).toBe(2_500);
    expect((await admin.get(ids[0]!))?.payload).toBe(0);
    expect((await admin.get(ids[1_700]!))?.payload).toBe(1_700);
    expect((await admin.get(ids[2_499]!))?.payload).toBe(2_499);
  });
});

describeStores('an act after the commit of the caller’s transaction', (setup) => {
  it('follows the commit of the outer transaction if its nested transaction was committed', async () => {
    const { dataSource, jobs } = await setup();
    const seen: string[] = [];

    await dataSource.transaction(async (outer) => {
      await outer.transaction((middle) =>
        middle.transaction(async (inner) => jobs.afterCommit(inner, () => void seen.push('inner'))),
      );
      jobs.afterCommit(outer, () => void seen.push('outer'));
      await outer.transaction(() => Promise.reject(new Error('roll back'))).catch(() => undefined);
      seen.push('before the commit');
    });

    expect(seen).toEqual(['before the commit', 'inner', 'outer']);
  });

  it('is left out if its nested transaction, or one around that, was rolled back', async () => {
    const { dataSource, jobs } = await setup();
    const seen: string[] = [];
    const rollBack = () => Promise.reject(new Error('roll back'));

    await dataSource.transaction(async (outer) => {
      jobs.afterCommit(outer, () => void seen.push('outer'));
      const nested = outer.transaction(async (middle) => {
        jobs.afterCommit(middle, () => void seen.push('middle'));
        await middle.transaction(async (inner) => jobs.afterCommit(inner, () => void seen.push('inner')));
        return rollBack();
      });
      await nested.catch(() => undefined);
    });

    expect(seen).toEqual(['outer']);
  });

  it('is left out if the whole transaction was rolled back', async () => {
    const { dataSource, jobs } = await setup();
    const seen: string[] = [];
    const failed = dataSource.transaction(async (manager) => {
      jobs.afterCommit(manager, () => void seen.push('rolled back'));
      throw new Error('roll back');
    });

    await expect(failed).rejects.toThrow('roll back');
    await dataSource.transaction(async (manager) => jobs.afterCommit(manager, () => void seen.push('committed')));

    expect(seen).toEqual(['committed']);
  });
});

describeStores('a producer in the caller’s transaction', (setup) => {
  it('counts the waiting jobs before the end of the transaction', async () => {
    const world = await setup();
    const producer = openProducer(world, () => ({ maxWaiting: 2 }));

    const refused = await world.dataSource.transaction(async (manager) => {
      await producer.enqueue('q', 0, { manager });
      await producer.publish('nobody', 0, { manager });
      await producer.enqueueMany('other', [{ payload: 0 }, { payload: 0 }], { manager });
      return producer.enqueueMany('q', [{ payload: 0 }, { payload: 0 }], { manager }).catch((error: unknown) => error);
    });

    expect(refused).toMatchObject({ code: 'QUEUE_FULL', waiting: 1 });
    expect(await world.admin.counts()).toMatchObject({ waiting: 3 });
  });

  it('does not wait for the count of a call that waits for the end of the transaction', async () => {
    const world = await setup();
    const producer = openProducer(world, () => ({ maxWaiting: 2 }));

    const outside = await world.dataSource.transaction(async (manager) => {
      const waiting = producer.enqueue('q', 0);
      await producer.enqueue('q', 0, { manager });
      return { waiting };
    });
    await outside.waiting;

    expect(await world.admin.counts()).toMatchObject({ waiting: 2 });
  });
});

async function managerOfNone({ manager }: DataSource): Promise<EntityManager> {
  return manager;
}

async function managerOfEnded(dataSource: DataSource): Promise<EntityManager> {
  return dataSource.transaction(async (manager) => manager);
}

async function managerOfRolledBack(dataSource: DataSource): Promise<EntityManager> {
  let ended!: EntityManager;
  await dataSource
    .transaction(async (manager) => {
      ended = manager;
      throw new Error('undone');
    })
    .catch(() => undefined);
  return ended;
}

async function runnerOfNone(dataSource: DataSource): Promise<QueryRunner> {
  return dataSource.createQueryRunner();
}
