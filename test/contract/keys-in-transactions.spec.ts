import type { EntityManager } from 'typeorm';
import type { EnqueueOptions } from '../../lib/job/enqueue-options.js';
import type { JobStore } from '../../lib/store/verbs/job-store.js';
import type { KeyedCallResult, KeyedJobResult } from '../../lib/store/features/keys/key-store.js';
import { eventually } from '../support/eventually.js';
import { claimRequest, finalBatchOf, idsOf, newJob } from '../support/jobs.js';
import { keyedJob } from '../support/keyed-job.js';
import { describeStores, describeStoresOf, type World } from '../support/stores.js';

describeStores("a key in a caller's transaction", (setup) => {
  it('is owned exactly if the transaction commits', async () => {
    const { dataSource, jobs, sql } = await setup();
    const within = (manager: EntityManager) => putWithin(jobs, manager, { key: 'k' });

    await expect(dataSource.transaction((manager) => within(manager).then(() => fail()))).rejects.toThrow('undone');
    const rolledBack = await sql('SELECT id FROM sql_queue_jobs');
    const placed = await dataSource.transaction(within);
    const again = await dataSource.transaction(within);

    expect(rolledBack).toEqual([]);
    expect(placed).toMatchObject([{ outcome: 'created' }]);
    expect(again).toEqual([{ ...placed[0], outcome: 'existing' }]);
  });

  it('is owned by a job of the same transaction, which can be replaced in it', async () => {
    const { dataSource, jobs, sql } = await setup();

    const outcomes = await dataSource.transaction(async (manager) => {
      const first = await putWithin(jobs, manager, { key: 'k' });
      const second = await putWithin(jobs, manager, { key: 'k' });
      const third = await putWithin(jobs, manager, { key: 'k', onConflict: 'replace', priority: 7 });
      return [...first, ...second, ...third].map(({ outcome }) => outcome);
    });

    expect(outcomes).toEqual(['created', 'existing', 'replaced']);
    expect(await sql('SELECT priority FROM sql_queue_jobs')).toEqual([{ priority: 7 }]);
  });

  it('follows its last use in the same transaction', async () => {
    const { dataSource, jobs, sql, advance } = await setup();
    await dataSource.transaction((manager) => putWithin(jobs, manager, { key: 'k', keyUntil: 60_000 }));

    const outcomes = await dataSource.transaction(async (manager) => {
      const replace = { key: 'k', onConflict: 'replace', keyUntil: 'finished' } as const;
      const first = await putWithin(jobs, manager, replace);
      advance(61_000);
      const second = await putWithin(jobs, manager, { key: 'k' });
      return [...first, ...second].map(({ outcome }) => outcome);
    });

    expect(outcomes).toEqual(['replaced', 'existing']);
    expect(await sql('SELECT id FROM sql_queue_jobs')).toHaveLength(1);
  });

  it('rejects a job if the key is owned, and leaves the transaction usable', async () => {
    const { dataSource, jobs, sql } = await setup();
    await dataSource.transaction((manager) => putWithin(jobs, manager, { key: 'k' }));

    const refused = await dataSource.transaction(async (manager) => {
      const error = await putWithin(jobs, manager, { key: 'k', onConflict: 'reject' }).catch((each: unknown) => each);
      await jobs.enqueue([newJob({ name: 'instead' })], manager);
      return error;
    });

    expect(refused).toMatchObject({ code: 'DUPLICATE_KEY', jobState: 'waiting' });
    expect(await sql('SELECT name FROM sql_queue_jobs ORDER BY id')).toEqual([
      { name: 'default' },
      { name: 'instead' },
    ]);
  });

  it('can be one of many keys, owned and free', async () => {
    const { dataSource, jobs } = await setup();
    await dataSource.transaction((manager) => putWithin(jobs, manager, { key: '3' }, { key: '5' }));
    const many = Array.from({ length: 8 }, (_, n) => ({ key: `${n}` }));

    const placed = await dataSource.transaction((manager) => putWithin(jobs, manager, ...many));

    expect(placed.flatMap(({ outcome }, n) => (outcome === 'existing' ? n : []))).toEqual([3, 5]);
  });
});

describeStoresOf(['mysql', 'mariadb'], "a locked key in a caller's transaction", (setup) => {
  it.each(['REPEATABLE READ', 'READ COMMITTED', 'SERIALIZABLE'] as const)(
    'is read in its current state, not in the snapshot of the transaction (%s)',
    async (isolation) => {
      const { dataSource, jobs, claim } = await setup();
      await put(jobs, { key: 'done' });
      const taken = await claim();
      await put(jobs, { key: 'new' });
      await jobs.complete(finalBatchOf(await claim()));

      const placed = await dataSource.transaction(isolation, async (manager) => {
        // From here on, a REPEATABLE READ transaction reads its snapshot.
        await manager.query('SELECT 1 FROM sql_queue_schema');
        await jobs.complete(finalBatchOf(taken));
        await put(jobs, { key: 'new' });
        return putWithin(jobs, manager, { key: 'done' }, { key: 'new' });
      });

      expect(placed.map(({ outcome }) => outcome)).toEqual(['created', 'existing']);
    },
  );

  it('makes other calls with that key wait for the commit, and no call with another key', async () => {
    const { dataSource, jobs } = await setup();
    const meanwhile: KeyedCallResult[] = [];

    const [placed] = await dataSource.transaction(async (manager) => {
      const first = await putWithin(jobs, manager, { key: 'k' });
      meanwhile.push(...(await jobs.enqueueKeyed([[keyedJob({ key: 'k' })], [keyedJob({ key: 'other' })]])));
      return first;
    });
    const afterwards = await put(jobs, { key: 'k' });

    expect(meanwhile).toMatchObject(['locked', [{ outcome: 'created' }]]);
    expect(afterwards).toEqual([{ ...placed, outcome: 'existing' }]);
  });

  it('waits for another transaction with that key', async () => {
    const world = await setup();
    const { dataSource, jobs } = world;
    await put(jobs, { key: 'warm' });
    let second!: Promise<readonly KeyedJobResult[]>;

    const [first] = await dataSource.transaction(async (manager) => {
      const placed = await putWithin(jobs, manager, { key: 'k' });
      second = dataSource.transaction((other) => putWithin(jobs, other, { key: 'k' }));
      await untilConnectionWaits(world);
      return placed;
    });

    expect(await second).toEqual([{ ...first, outcome: 'existing' }]);
  });

  it('hides a replaced job from workers until the commit, and delays no other jobs', async () => {
    const { dataSource, jobs, advance } = await setup();
    const debounced = { key: 'k', onConflict: 'replace', keyUntil: 'started', delay: '1s' } as const;
    const [first] = await put(jobs, debounced);
    const [other] = await jobs.enqueue([newJob({ delayMs: 1_000 })]);
    advance(2_000);

    const during = await dataSource.transaction(async (manager) => {
      await putWithin(jobs, manager, debounced);
      const { length: promoted } = await jobs.promote(10);
      return { promoted, ids: idsOf(await jobs.claim(claimRequest({ limit: 10 }))) };
    });
    advance(2_000);
    await jobs.promote(10);
    const late = await jobs.claim(claimRequest({ limit: 10 }));

    expect(during).toEqual({ promoted: 1, ids: [other] });
    expect(idsOf(late)).toEqual([first!.id]);
  });

  it('keeps its job from starting before the commit if it is owned until the start', async () => {
    const { dataSource, jobs, claim } = await setup();
    const options = { key: 'k', keyUntil: 'started' } as const;
    const [first] = await put(jobs, options);

    const early = await dataSource.transaction(async (manager) => {
      await putWithin(jobs, manager, options);
      return claim();
    });

    expect(early.jobs).toEqual([]);
    expect(idsOf((await claim()).jobs)).toEqual([first!.id]);
  });

  it('does not keep an active job from being completed', async () => {
    const { dataSource, jobs, claim } = await setup();
    await put(jobs, { key: 'k' });
    const taken = await claim();

    const { lost } = await dataSource.transaction(async (manager) => {
      await putWithin(jobs, manager, { key: 'k' });
      return jobs.complete(finalBatchOf(taken));
    });

    expect(lost.size).toBe(0);
  });

  it('can be used twice in one transaction if its last use was long ago', async () => {
    const { dataSource, jobs, claim, advance } = await setup();
    await put(jobs, { key: 'k' });
    await jobs.complete(finalBatchOf(await claim()));
    advance(3_000_000);

    const outcomes = await dataSource.transaction(async (manager) => [
      ...(await putWithin(jobs, manager, { key: 'k' })),
      ...(await putWithin(jobs, manager, { key: 'k' })),
    ]);

    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['created', 'existing']);
  });
});

async function put(jobs: JobStore, ...options: EnqueueOptions[]): Promise<readonly KeyedJobResult[]> {
  const [answer] = await jobs.enqueueKeyed([options.map((one) => keyedJob(one))]);
  return answer as readonly KeyedJobResult[];
}

async function putWithin(jobs: JobStore, manager: EntityManager, ...options: EnqueueOptions[]) {
  const placed = await jobs.enqueueKeyedInTransaction(
    options.map((one) => keyedJob(one)),
    manager,
  );
  return placed!;
}

function fail(): never {
  throw new Error('undone');
}

/** Resolves when a connection waits for the lock of a key. The lock takes no time if the key is free. */
async function untilConnectionWaits({ sql }: World): Promise<void> {
  await eventually(async () => {
    const rows = await sql<{ info: string | null }>(
      'SELECT info FROM information_schema.processlist WHERE db = DATABASE()',
    );
    return rows.some(({ info }) => /FROM sql_queue_keys.*FOR UPDATE/s.test(info ?? ''));
  });
}
