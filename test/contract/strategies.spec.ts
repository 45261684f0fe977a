import { CLAIM_STRATEGIES, type ClaimStrategy } from '../../lib/job/claim-strategy.js';
import { interceptingDriver } from '../support/intercepting-driver.js';
import { claimRequest, idsOf } from '../support/jobs.js';
import { describeStores, describeStoresOf } from '../support/stores.js';
import { rewritingDriver, removeSkipLocked } from '../support/rewriting-driver.js';

const requested = (strategy: ClaimStrategy | 'auto') => new Map([['q', strategy]]);

describeStores('the choice of a strategy', (setup, { strategy: best }) => {
  it('resolves auto to the best strategy', async () => {
    const { jobs } = await setup();

    const chosen = await jobs.chooseStrategies(requested('auto'));

    expect(chosen).toEqual({ byQueue: new Map([['q', { name: best, mayShareTransaction: true }]]) });
  });

  it('rejects unsupported strategies of all queues at once, with the reason and the supported ones', async () => {
    const { jobs } = await setup();
    const outcomes = await Promise.all(
      CLAIM_STRATEGIES.map((strategy) =>
        jobs.chooseStrategies(requested(strategy)).then(
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

  it('accepts an empty list of queues', async () => {
    const { jobs } = await setup();

    expect(await jobs.chooseStrategies(new Map())).toEqual({ byQueue: new Map() });
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
  ])('rejects lock under $title, with the reason and the way out', async ({ variable, value }) => {
    const world = await setup();
    const driver = rewritingDriver((sql) =>
      sql.includes('single_primary_mode') ? `SELECT '${variable}' AS Variable_name, '${value}' AS Value` : sql,
    );
    const { jobs } = await world.open({ dataSource: await world.connect({ driver }) });

    await expect(jobs.chooseStrategies(requested('lock'))).rejects.toThrow(
      /got 'lock': several nodes of this cluster accept writes.*choose 'skip-locked'/s,
    );
    expect((await jobs.chooseStrategies(requested('auto'))).byQueue.get('q')).toEqual({
      name: 'skip-locked',
      mayShareTransaction: true,
    });
  });

  it('supports claims by lock under Group Replication with one primary', async () => {
    const world = await setup();
    const driver = rewritingDriver((sql) =>
      sql.includes('single_primary_mode')
        ? `SELECT 'group_replication_single_primary_mode' AS Variable_name, 'ON' AS Value`
        : sql,
    );
    const { jobs } = await world.open({ dataSource: await world.connect({ driver }) });

    expect((await jobs.chooseStrategies(requested('lock'))).byQueue.get('q')).toEqual({
      name: 'lock',
      mayShareTransaction: true,
    });
  });
});

describeStoresOf(['mysql', 'mariadb'], 'a server that ignores SKIP LOCKED', (setup) => {
  const unlocking = async () => {
    const world = await setup();
    const open = async () =>
      (await world.open({ dataSource: await world.connect({ driver: rewritingDriver(removeSkipLocked) }) })).jobs;
    return { world, open };
  };

  it('uses optimistic, with a notice', async () => {
    const { open } = await unlocking();
    const store = await open();

    const { byQueue, notice } = await store.chooseStrategies(requested('auto'));

    expect(byQueue.get('q')).toEqual({ name: 'optimistic', mayShareTransaction: false });
    expect(notice).toMatch(
      /^Jobs of "q" are claimed by 'optimistic', not 'skip-locked': this server accepts SKIP LOCKED/,
    );
  });

  it.each(['skip-locked', 'lock'] as const)('is rejected with the strategy %s', async (strategy) => {
    const { open } = await unlocking();
    const store = await open();

    const chosen = store.chooseStrategies(requested(strategy));

    await expect(chosen).rejects.toThrow(/expected claim to be 'auto' \| 'optimistic' \| 'update'/);
  });

  it('gives no job to two callers', async () => {
    const { world, open } = await unlocking();
    const ids = await world.put(...Array.from({ length: 200 }, () => ({})));
    const stores = await Promise.all(Array.from({ length: 4 }, open));

    const drain = async (store: (typeof stores)[number]): Promise<number[]> => {
      const jobs = await store.claim(claimRequest({ limit: 7, strategy: 'optimistic' }));
      const waits = jobs.length > 0 || (await store.summarizeWork(['q'])).queues.get('q')!.waiting;
      return waits ? [...idsOf(jobs), ...(await drain(store))] : [];
    };
    await world.workers.register({ id: 'w', host: 'h', pid: 1, queues: new Map([['q', 1]]) });
    const drained = await Promise.all(stores.map(drain));

    expect(drained.flat().sort((a, b) => a - b)).toEqual(ids);
  });
});

describeStoresOf(['mysql', 'mariadb'], 'a claim by update', (setup) => {
  it('leaves no claim if another process ends its jobs before the update', async () => {
    const world = await setup();
    const driver = interceptingDriver(async (sql) => {
      if (/UPDATE sql_queue_jobs/.test(sql)) await world.sql('DELETE FROM sql_queue_jobs');
    });
    const { jobs } = await world.open({ dataSource: await world.connect({ driver }) });
    await world.put({});

    const claimed = await jobs.claim(claimRequest({ strategy: 'update' }));

    expect(claimed).toEqual([]);
    expect(await world.sql('SELECT id FROM sql_queue_claims')).toEqual([]);
  });
});
