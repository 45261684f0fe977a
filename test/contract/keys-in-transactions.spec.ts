import type { EntityManager } from 'typeorm';
import type { EnqueueOptions } from '../../lib/job/enqueue-options.js';
import type { JobStore } from '../../lib/store/job-store.js';
import type { KeyedAnswer, PlacedJob } from '../../lib/store/key-store.js';
import { eventually } from '../support/eventually.js';
import { claimOf, endOf, idsOf, newJob } from '../support/jobs.js';
import { keyed } from '../support/keyed.js';
import { describeStores, describeStoresOf, type World } from '../support/stores.js';

describeStores("a key in a caller's transaction", (setup) => {
  it('is held exactly when that commits', async () => {
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

  it('is held by a job of that very transaction, which can be replaced in it', async () => {
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

  it('is held as that very transaction has last taken it', async () => {
    const { dataSource, jobs, sql, advance } = await setup();
    await dataSource.transaction((manager) => putWithin(jobs, manager, { key: 'k', keyUntil: 1_000 }));

    const outcomes = await dataSource.transaction(async (manager) => {
      const replace = { key: 'k', onConflict: 'replace', keyUntil: 'finished' } as const;
      const first = await putWithin(jobs, manager, replace);
      advance(2_000);
      const second = await putWithin(jobs, manager, { key: 'k' });
      return [...first, ...second].map(({ outcome }) => outcome);
    });

    expect(outcomes).toEqual(['replaced', 'existing']);
    expect(await sql('SELECT id FROM sql_queue_jobs')).toHaveLength(1);
  });

  it('that is held refuses the job, and leaves the transaction to its owner', async () => {
    const { dataSource, jobs, sql } = await setup();
    await dataSource.transaction((manager) => putWithin(jobs, manager, { key: 'k' }));

    const refused = await dataSource.transaction(async (manager) => {
      const error = await putWithin(jobs, manager, { key: 'k', onConflict: 'reject' }).catch((each: unknown) => each);
      await jobs.enqueue([newJob({ name: 'instead' })], manager);
      return error;
    });

    expect(refused).toMatchObject({ code: 'DUPLICATE_KEY', holder: 'waiting' });
    expect(await sql('SELECT name FROM sql_queue_jobs ORDER BY id')).toEqual([
      { name: 'default' },
      { name: 'instead' },
    ]);
  });

  it('can be one of many, held and free', async () => {
    const { dataSource, jobs } = await setup();
    await dataSource.transaction((manager) => putWithin(jobs, manager, { key: '3' }, { key: '5' }));
    const many = Array.from({ length: 8 }, (_, n) => ({ key: `${n}` }));

    const placed = await dataSource.transaction((manager) => putWithin(jobs, manager, ...many));

    expect(placed.flatMap(({ outcome }, n) => (outcome === 'existing' ? n : []))).toEqual([3, 5]);
  });
});

describeStoresOf(['mysql', 'mariadb'], "a key in a caller's transaction", (setup) => {
  it.each(['REPEATABLE READ', 'READ COMMITTED', 'SERIALIZABLE'] as const)(
    'is looked at as it is now, whatever the transaction has seen (%s)',
    async (isolation) => {
      const { dataSource, jobs, claim } = await setup();
      await put(jobs, { key: 'done' });
      const taken = await claim();
      await put(jobs, { key: 'new' });
      await jobs.settle(endOf(await claim()));

      const placed = await dataSource.transaction(isolation, async (manager) => {
        // From here on REPEATABLE READ sees no change.
        await manager.query('SELECT 1 FROM sql_queue_schema');
        await jobs.settle(endOf(taken));
        await put(jobs, { key: 'new' });
        return putWithin(jobs, manager, { key: 'done' }, { key: 'new' });
      });

      expect(placed.map(({ outcome }) => outcome)).toEqual(['created', 'existing']);
    },
  );

  it('makes others with that key wait for the commit, and none with another', async () => {
    const { dataSource, jobs } = await setup();
    const meanwhile: KeyedAnswer[] = [];

    const [placed] = await dataSource.transaction(async (manager) => {
      const first = await putWithin(jobs, manager, { key: 'k' });
      meanwhile.push(...(await jobs.enqueueKeyed([[keyed({ key: 'k' })], [keyed({ key: 'other' })]])));
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
    let second!: Promise<readonly PlacedJob[]>;

    const [first] = await dataSource.transaction(async (manager) => {
      const placed = await putWithin(jobs, manager, { key: 'k' });
      second = dataSource.transaction((other) => putWithin(jobs, other, { key: 'k' }));
      await someoneWaits(world);
      return placed;
    });

    expect(await second).toEqual([{ ...first, outcome: 'existing' }]);
  });

  it('lets no worker have a replaced job before the commit, and holds up none of the others', async () => {
    const { dataSource, jobs, advance } = await setup();
    const debounced = { key: 'k', onConflict: 'replace', keyUntil: 'started', delay: '1s' } as const;
    const [first] = await put(jobs, debounced);
    const [other] = await jobs.enqueue([newJob({ delayMs: 1_000 })]);
    advance(2_000);

    const during = await dataSource.transaction(async (manager) => {
      await putWithin(jobs, manager, debounced);
      const promoted = await jobs.promote(10);
      return { promoted, ids: idsOf(await jobs.claim(claimOf({ limit: 10 }))) };
    });
    advance(2_000);
    await jobs.promote(10);
    const late = await jobs.claim(claimOf({ limit: 10 }));

    expect(during).toEqual({ promoted: 1, ids: [other] });
    expect(idsOf(late)).toEqual([first!.id]);
  });

  it('held until its job has started keeps that from starting before the commit', async () => {
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

    const lost = await dataSource.transaction(async (manager) => {
      await putWithin(jobs, manager, { key: 'k' });
      return jobs.settle(endOf(taken));
    });

    expect(lost.size).toBe(0);
  });

  it('can be used twice in one transaction where it was last used long ago', async () => {
    const { dataSource, jobs, claim, advance } = await setup();
    await put(jobs, { key: 'k' });
    await jobs.settle(endOf(await claim()));
    advance(3_000_000);

    const outcomes = await dataSource.transaction(async (manager) => [
      ...(await putWithin(jobs, manager, { key: 'k' })),
      ...(await putWithin(jobs, manager, { key: 'k' })),
    ]);

    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['created', 'existing']);
  });
});

async function put(jobs: JobStore, ...options: EnqueueOptions[]): Promise<readonly PlacedJob[]> {
  const [answer] = await jobs.enqueueKeyed([options.map((one) => keyed(one))]);
  return answer as readonly PlacedJob[];
}

async function putWithin(jobs: JobStore, manager: EntityManager, ...options: EnqueueOptions[]) {
  const placed = await jobs.enqueueKeyedWithin(
    options.map((one) => keyed(one)),
    manager,
  );
  return placed!;
}

function fail(): never {
  throw new Error('undone');
}

/** Resolves when somebody asks for the lock of a key, which takes no time where it is free. */
async function someoneWaits({ sql }: World): Promise<void> {
  await eventually(async () => {
    const rows = await sql<{ info: string | null }>(
      'SELECT info FROM information_schema.processlist WHERE db = DATABASE()',
    );
    return rows.some(({ info }) => /FROM sql_queue_keys.*FOR UPDATE/s.test(info ?? ''));
  });
}
