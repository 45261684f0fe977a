import type { EntityManager } from 'typeorm';
import type { EnqueueOptions } from '../../lib/job/enqueue-options.js';
import type { KeyedJobResult } from '../../lib/store/features/keys/key-store.js';
import type { JobStore } from '../../lib/store/verbs/job-store.js';
import { finalBatchOf, outcomes } from '../support/jobs.js';
import { keyedJob } from '../support/keyed-job.js';
import { describeStores, describeStoresOf, type World } from '../support/stores.js';

describeStores('a key in a transaction whose calls overlap', (setup) => {
  it('is owned by one job if two calls enqueue with it', async () => {
    const world = await setup();
    const { dataSource, jobs } = world;

    const results = await dataSource.transaction(async (manager) =>
      (await Promise.all([1, 2].map(() => putWithin(jobs, manager, { key: 'k' })))).flat(),
    );

    expect(results).toMatchObject([{ outcome: 'created' }, { outcome: 'existing', id: results[0]!.id }]);
    expect(await liveIds(world)).toEqual([results[0]!.id]);
  });

  it('is owned by one job if the calls have a manager and its query runner', async () => {
    const { dataSource, jobs } = await setup();

    const results = await dataSource.transaction((manager) =>
      Promise.all(
        [
          putWithin(jobs, manager, { key: 'k' }),
          putWithin(jobs, manager, { key: 'k', onConflict: 'reject' }),
          jobs
            .enqueueKeyedInTransaction([keyedJob({ key: 'k', onConflict: 'reject' })], manager.queryRunner!)
            .catch((error: unknown) => error),
        ].map((call) => call.catch((error: unknown) => error)),
      ),
    );

    const refused = { code: 'DUPLICATE_KEY' };
    expect(results).toMatchObject([[{ outcome: 'created' }], refused, refused]);
  });

  it('is owned by one job if a dead job with it is retried', async () => {
    const world = await setup();
    const { dataSource, jobs, admin } = world;
    const dead = await putDead(world);

    const [created] = await dataSource.transaction((manager) =>
      Promise.all([
        putWithin(jobs, manager, { key: 'k' }),
        admin.retry([dead], { transaction: manager }),
        putWithin(jobs, manager, { key: 'k' }),
      ]),
    );

    expect(await liveIds(world)).toEqual([created[0]!.id]);
  });
});

type End = (world: World, id: number, manager: EntityManager) => Promise<unknown>;

const cancel: End = ({ admin }, id, transaction) => admin.cancel(id, () => 60_000, { transaction });

const ends: [verb: string, end: End][] = [
  ['cancel', cancel],
  ['remove', ({ admin }, id, transaction) => admin.remove([id], { transaction })],
  [
    'complete',
    ({ consumer }, id, manager) =>
      consumer.end(id, 'anyone', () => ({ outcome: outcomes.complete, retentionMs: 60_000 }), manager),
  ],
];

describeStores('a key whose owner its transaction has changed', (setup) => {
  describe.each(ends)('by %s', (verb, end) => {
    it.each(['return', 'reject', 'replace'] as const)('is free for another job (%s)', async (onConflict) => {
      const world = await setup();
      const { dataSource, jobs } = world;
      const owner = await put(world);
      if (verb === 'complete') await assign(world, owner);

      const [placed] = await dataSource.transaction(async (manager) => {
        await end(world, owner, manager);
        return putWithin(jobs, manager, { key: 'k', onConflict });
      });

      expect(placed).toMatchObject({ outcome: 'created' });
      expect(await liveIds(world)).toEqual([placed!.id]);
    });
  });

  it('stays with the owner if the change was rolled back to a savepoint', async () => {
    const world = await setup();
    const { dataSource, jobs } = world;
    const owner = await put(world);

    const [placed] = await dataSource.transaction(async (manager) => {
      const undone = manager.transaction(async (inner) => {
        await cancel(world, owner, inner);
        throw new Error('undone');
      });
      await expect(undone).rejects.toThrow('undone');
      return putWithin(jobs, manager, { key: 'k' });
    });

    expect(placed).toMatchObject({ outcome: 'existing', id: owner });
  });

  it('stays with an owner that was active and waits again until it starts', async () => {
    const world = await setup();
    const { dataSource, jobs, admin, claim } = world;
    const options = { key: 'k', keyUntil: 'started' } as const;
    const owner = await put(world, options);
    await claim();

    const [placed] = await dataSource.transaction(async (manager) => {
      await admin.release(owner, { transaction: manager });
      return putWithin(jobs, manager, options);
    });

    expect(placed).toMatchObject({ outcome: 'existing', id: owner });
  });

  it('lets another job replace an owner that was assigned, and takes it from its new stage', async () => {
    const world = await setup();
    const { dataSource, jobs, consumer, sql } = world;
    const owner = await put(world);
    await assign(world, owner);

    const [placed] = await dataSource.transaction(async (manager) => {
      await consumer.move(owner, 'anyone', 'review', manager);
      return putWithin(jobs, manager, { key: 'k', onConflict: 'replace' });
    });

    expect(placed).toMatchObject({ outcome: 'replaced', id: owner });
    expect(await sql('SELECT stage FROM sql_queue_stages')).toEqual([]);
  });
});

describeStoresOf(['mysql', 'mariadb'], 'a key in a transaction with a snapshot', (setup) => {
  const SNAPSHOT = 'SELECT 1 FROM sql_queue_schema';

  it.each(['READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'] as const)(
    'is free for a job of the transaction that has ended its owner (%s)',
    async (isolation) => {
      const world = await setup();
      const { dataSource, jobs, admin } = world;

      const [placed] = await dataSource.transaction(isolation, async (manager) => {
        await manager.query(SNAPSHOT);
        const owner = await put(world);
        await admin.remove([owner], { transaction: manager });
        return putWithin(jobs, manager, { key: 'k' });
      });

      expect(placed).toMatchObject({ outcome: 'created' });
      expect(await liveIds(world)).toEqual([placed!.id]);
    },
  );

  it.each(['READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'] as const)(
    'delays no other enqueue while the transaction that has ended its owner is open (%s)',
    async (isolation) => {
      const world = await setup();
      const { dataSource, jobs, admin } = world;
      const owner = await put(world);
      const meanwhile: number[] = [];

      await dataSource.transaction(isolation, async (manager) => {
        await admin.remove([owner], { transaction: manager });
        await putWithin(jobs, manager, { key: 'k' });
        meanwhile.push(...(await world.put({})), await put(world, { key: 'other' }));
      });

      expect(meanwhile).toHaveLength(2);
    },
  );

  it('does not keep an active owner from its end that an earlier transaction of the connection has released', async () => {
    const world = await setup();
    const { dataSource, jobs, admin, claim } = world;
    const owner = await put(world);
    await claim();
    const runner = dataSource.createQueryRunner();
    await runner.startTransaction();
    await admin.release(owner, { transaction: runner });
    await runner.commitTransaction();
    const taken = await claim();

    await runner.startTransaction();
    const placed = await jobs.enqueueKeyedInTransaction([keyedJob({ key: 'k' })], runner);
    const { lost } = await jobs.complete(finalBatchOf(taken));
    await runner.commitTransaction();
    await runner.release();

    expect(placed).toMatchObject([{ outcome: 'existing', id: owner }]);
    expect(lost.size).toBe(0);
  });

  it('is taken again by a retried job if its row was pruned', async () => {
    const world = await setup();
    const { dataSource, jobs, admin, advance, sql } = world;
    const dead = await putDead(world);
    advance(7_200_000);
    await jobs.pruneKeys(10);
    expect(await sql('SELECT key_hash FROM sql_queue_keys')).toEqual([]);

    const retried = await dataSource.transaction('REPEATABLE READ', (manager) =>
      admin.retry([dead], { transaction: manager }),
    );

    expect(retried).toEqual([dead]);
    expect(await put(world)).toBe(dead);
  });

  it('is taken again by a retried job if its owner has ended since', async () => {
    const world = await setup();
    const { dataSource, admin } = world;
    const dead = await putDead(world);
    const owner = await put(world);

    const retried = await dataSource.transaction('REPEATABLE READ', async (manager) => {
      await manager.query(SNAPSHOT);
      await admin.remove([owner]);
      return admin.retry([dead], { transaction: manager });
    });

    expect(retried).toEqual([dead]);
  });

  it('keeps a retried job in the history if another job has got it since', async () => {
    const world = await setup();
    const { dataSource, admin } = world;
    const dead = await putDead(world);
    let owner = 0;

    const retried = await dataSource.transaction('REPEATABLE READ', async (manager) => {
      await manager.query(SNAPSHOT);
      owner = await put(world);
      return admin.retry([dead], { transaction: manager });
    });

    expect(retried).toEqual([]);
    expect(await liveIds(world)).toEqual([owner]);
  });
});

async function put({ jobs }: World, options: EnqueueOptions = { key: 'k' }): Promise<number> {
  const [answer] = await jobs.enqueueKeyed([[keyedJob(options)]]);
  return (answer as readonly KeyedJobResult[])[0]!.id;
}

async function assign({ consumer }: World, id: number): Promise<void> {
  await consumer.assign(id, { workerId: 'p', owner: 'ann', leaseMs: null }, 'anyone', () => ({
    maxAttempts: 3,
    deadLetter: false,
  }));
}

async function putWithin(
  jobs: JobStore,
  manager: EntityManager,
  ...options: EnqueueOptions[]
): Promise<readonly KeyedJobResult[]> {
  const placed = await jobs.enqueueKeyedInTransaction(
    options.map((each) => keyedJob(each)),
    manager,
  );
  return placed!;
}

/** A dead job, which the history keeps for a day. */
async function putDead(world: World): Promise<number> {
  const id = await put(world);
  await world.jobs.complete(finalBatchOf(await world.claim(), outcomes.dead, { retentionMs: 86_400_000 }));
  return id;
}

async function liveIds({ sql }: World): Promise<number[]> {
  const rows = await sql<{ id: number | string }>('SELECT id FROM sql_queue_jobs ORDER BY id');
  return rows.map(({ id }) => Number(id));
}
