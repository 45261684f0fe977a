import { CLAIM_STRATEGIES, type ClaimStrategy } from '../../lib/job/claim-strategy.js';
import { claimOf, idsOf } from '../support/jobs.js';
import { describeStores, describeStoresOf } from '../support/stores.js';
import { rewritingDriver, withoutLocks } from '../support/rewriting-driver.js';

const wish = (strategy: ClaimStrategy | 'auto') => new Map([['q', strategy]]);

describeStores('choosing a strategy', (setup, { strategy: best }) => {
  it('takes the best for auto', async () => {
    const { jobs } = await setup();

    const chosen = await jobs.chooseStrategies(wish('auto'));

    expect(chosen).toEqual({ of: new Map([['q', { name: best, mayShare: true }]]) });
  });

  it('refuses what the database cannot do, for all queues at once, and names the reason and what it can', async () => {
    const { jobs } = await setup();
    const outcomes = await Promise.all(
      CLAIM_STRATEGIES.map((strategy) =>
        jobs.chooseStrategies(wish(strategy)).then(
          () => 'can',
          (error: Error & { code: string }) => `${error.code} ${error.message}`,
        ),
      ),
    );

    for (const [index, outcome] of outcomes.entries()) {
      if (outcome === 'can') continue;
      expect(outcome).toMatch(
        new RegExp(
          `^INVALID_OPTIONS .*queue "q": expected claim to be 'auto' \\| .*, got '${CLAIM_STRATEGIES[index]}': `,
        ),
      );
    }
    expect(outcomes).toContain('can');
    const all = new Map<string, ClaimStrategy>([
      ['a', CLAIM_STRATEGIES[outcomes.findIndex((outcome) => outcome !== 'can')]!],
      ['b', CLAIM_STRATEGIES[outcomes.findIndex((outcome) => outcome !== 'can')]!],
    ]);
    await expect(jobs.chooseStrategies(all)).rejects.toThrow(/queue "a"[^]*queue "b"/);
  });

  it('works where there is no queue', async () => {
    const { jobs } = await setup();

    expect(await jobs.chooseStrategies(new Map())).toEqual({ of: new Map() });
  });
});

describeStoresOf(['mysql', 'mariadb'], 'a cluster', (setup) => {
  it.each([
    { title: 'Galera', variable: 'wsrep_on', value: 'ON' },
    {
      title: 'Group Replication with several primaries',
      variable: 'group_replication_single_primary_mode',
      value: 'OFF',
    },
  ])('of $title refuses lock, with the reason and the way out', async ({ variable, value }) => {
    const world = await setup();
    const driver = rewritingDriver((sql) =>
      sql.includes('single_primary_mode') ? `SELECT '${variable}' AS Variable_name, '${value}' AS Value` : sql,
    );
    const { jobs } = await world.open({ dataSource: await world.connect({ driver }) });

    await expect(jobs.chooseStrategies(wish('lock'))).rejects.toThrow(
      /got 'lock': several nodes of this cluster can be written to.*choose 'skip-locked'/s,
    );
    expect((await jobs.chooseStrategies(wish('auto'))).of.get('q')).toEqual({ name: 'skip-locked', mayShare: true });
  });

  it('of Group Replication with one primary can be claimed from by lock', async () => {
    const world = await setup();
    const driver = rewritingDriver((sql) =>
      sql.includes('single_primary_mode')
        ? `SELECT 'group_replication_single_primary_mode' AS Variable_name, 'ON' AS Value`
        : sql,
    );
    const { jobs } = await world.open({ dataSource: await world.connect({ driver }) });

    expect((await jobs.chooseStrategies(wish('lock'))).of.get('q')).toEqual({ name: 'lock', mayShare: true });
  });
});

describeStoresOf(['mysql', 'mariadb'], 'a server that accepts SKIP LOCKED and locks nothing', (setup) => {
  const unlocking = async () => {
    const world = await setup();
    const open = async () =>
      (await world.open({ dataSource: await world.connect({ driver: rewritingDriver(withoutLocks) }) })).jobs;
    return { world, open };
  };

  it('is claimed from by optimistic, which is said', async () => {
    const { open } = await unlocking();
    const store = await open();

    const { of, notice } = await store.chooseStrategies(wish('auto'));

    expect(of.get('q')).toEqual({ name: 'optimistic', mayShare: false });
    expect(notice).toMatch(
      /^Jobs of "q" are claimed by 'optimistic', not 'skip-locked': this server accepts SKIP LOCKED/,
    );
  });

  it.each(['skip-locked', 'lock'] as const)('is refused where %s is asked for', async (strategy) => {
    const { open } = await unlocking();
    const store = await open();

    const chosen = store.chooseStrategies(wish(strategy));

    await expect(chosen).rejects.toThrow(/expected claim to be 'auto' \| 'optimistic' \| 'update'/);
  });

  it('hands no job to two callers', async () => {
    const { world, open } = await unlocking();
    const ids = await world.put(...Array.from({ length: 200 }, () => ({})));
    const stores = await Promise.all(Array.from({ length: 4 }, open));

    const drain = async (store: (typeof stores)[number]): Promise<number[]> => {
      const jobs = await store.claim(claimOf({ limit: 7, strategy: 'optimistic' }));
      const waits = jobs.length > 0 || (await store.survey(['q'])).queues.get('q')!.waiting;
      return waits ? [...idsOf(jobs), ...(await drain(store))] : [];
    };
    await stores[0]!.enter({ id: 'w', host: 'h', pid: 1, queues: ['q'] });
    const drained = await Promise.all(stores.map(drain));

    expect(drained.flat().sort((a, b) => a - b)).toEqual(ids);
  });
});
