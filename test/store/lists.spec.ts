import type { JobSearch } from '../../lib/store/admin-store.js';
import { fill } from '../support/noise.js';
import { pages } from '../support/pages.js';
import { recordingDriver, statementsOf } from '../support/recording-driver.js';
import { describeStoresOf, type World } from '../support/stores.js';

interface Plan {
  table: string | null;
  type: string | null;
  key: string | null;
  Extra: string | null;
}

// A dead-letter page must not cost more the more jobs have been completed.
describeStoresOf(['mysql', 'mariadb'], 'a page of finished jobs', (setup) => {
  it.each([
    { state: 'dead' },
    { queue: 'q', state: 'dead' },
    { queue: 'q', state: 'dead', name: 'n', error: 'X' },
    { queue: 'dead' },
  ] as const)('reads no more of a long history than its own part of index state (%p)', async (filter) => {
    const world = await setup();
    await fill(world.dataSource, 10_000);
    await world.sql(
      `UPDATE sql_queue_history SET state = 'dead', queue = ELT(1 + id % 3, 'q', 'r', 'dead') WHERE id % 500 = 0`,
    );
    await world.sql('ANALYZE TABLE sql_queue_history');
    const { plans, reads, store } = await watched(world, /FROM sql_queue_history/);

    await store.admin.find(filter, { order: 'oldest', limit: 10 });

    const ofHistory = plans.filter(({ table }) => table === 'h' || table === 'sql_queue_history');
    expect(ofHistory.map(({ key }) => key)).toEqual(
      expect.arrayContaining(['sql_queue_history_state', 'PRIMARY']) as string[],
    );
    expect(ofHistory.filter(({ type }) => type === 'ALL' || type === 'index')).toEqual([]);
    expect(reads()).toBeLessThan(2_000);
  });
});

describeStoresOf(['mysql', 'mariadb'], 'a page of jobs that are not finished', (setup) => {
  it.each([{}, { state: 'waiting' }, { state: 'waiting', name: 'default' }] as const)(
    'reads no more of many than those of its queue, where that has few (%p)',
    async (filter) => {
      const world = await setup();
      await fill(world.dataSource, 10_000);
      const ids = await world.put({ queue: 'few' }, { queue: 'few', priority: -1 }, { queue: 'few' });
      const { reads, store } = await watched(world, /FROM sql_queue_jobs/);

      const found = await pages((page) => store.admin.find({ queue: 'few', ...filter }, page), {
        order: 'oldest',
        limit: 2,
      });

      expect(found.flat().map(({ id }) => id)).toEqual(ids);
      expect(reads()).toBeLessThan(2_000);
    },
  );
});

// Whatever is asked for, however many jobs there are, and from either end.
describeStoresOf(['mysql', 'mariadb'], 'a page of 20 among 100,000 live and 100,000 finished jobs', (setup) => {
  it('examines a bounded number of rows', async () => {
    const world = await setup();
    await fill(world.dataSource, 100_000);
    await world.put({ queue: 'few' }, { queue: 'few', priority: 3 }, { queue: 'few', delayMs: 60_000 });
    await world.claim({ queue: 'few' });
    const { reads, store } = await watched(world, /FROM sql_queue_(jobs|history|claims)/);
    const examined: Record<string, number> = {};

    for (const statistics of ['stale', 'fresh']) {
      if (statistics === 'fresh') await world.sql('ANALYZE TABLE sql_queue_jobs, sql_queue_history');
      for (const order of ['oldest', 'newest'] as const) {
        for (const filter of filters()) {
          const before = reads();
          const { next } = await store.admin.find(filter, { order, limit: 20 });
          if (next) await store.admin.find(filter, { order, limit: 20, after: next });
          examined[`${statistics} ${order} ${JSON.stringify(filter)}`] = reads() - before;
        }
      }
    }

    const most = (key: string) => (/name|error|finished/.test(key) ? 100_000 : 20_000);
    expect(Object.entries(examined).filter(([key, rows]) => rows > most(key))).toEqual([]);
  }, 240_000);
});

/** Each kind of filter, of all queues, of the one that has nearly all jobs, and of one that has three. */
function filters(): JobSearch[] {
  const states = [undefined, 'active', 'scheduled', 'waiting', 'completed', 'dead'] as const;
  const conditions = [{}, { name: 'unknown' }, { error: 'E_UNKNOWN' }, { finishedAfter: new Date(2e12) }];
  return [undefined, 'q', 'few', 'none'].flatMap((queue) =>
    states.flatMap((state) =>
      conditions.map((more) => ({ ...(queue && { queue }), ...(state && { state }), ...more })),
    ),
  );
}

describeStoresOf(['mysql', 'mariadb'], 'a look for due jobs', (setup) => {
  it.each([
    ['fresh', 10],
    // MariaDB believes what it saw when it opened a table: where that was empty, it has no use for the order of an index.
    ['as it was when it was empty', 10],
    ['fresh', 40],
  ])(
    'reads no more of many jobs than a few of each queue (statistics of the table %s, %i queues)',
    async (statistics, queues) => {
      const world = await setup();
      await fill(world.dataSource, 10_000);
      await world.put(...Array.from({ length: queues }, (_, n) => ({ queue: `n${n}`, delayMs: 1_000 })));
      if (statistics === 'fresh') await world.sql('ANALYZE TABLE sql_queue_jobs');
      world.advance(2_000);
      const { reads, store } = await watched(world, /(DISTINCT |MIN\()queue/);

      const promoted = await store.jobs.promote(1_000);

      expect(promoted).toBe(queues);
      expect(reads()).toBeLessThan(1_000);
    },
  );
});

/** A store whose reading statements are explained, and the rows counted that they read. */
async function watched(world: World, reading: RegExp) {
  const plans: Plan[] = [];
  let read = 0;
  const driver = recordingDriver(async (text, ask) => {
    for (const sql of statementsOf(text).filter((each) => /^\s*(SELECT|WITH)/.test(each) && reading.test(each))) {
      plans.push(...(await ask<Plan>(`EXPLAIN FORMAT = TRADITIONAL ${sql}`)));
      const before = await rowsRead(ask);
      await ask(sql);
      read += (await rowsRead(ask)) - before;
    }
  });
  const store = await world.open({ dataSource: await world.connect({ driver }) });
  // What a store asks when it opens is not meant.
  plans.length = read = 0;
  return { plans, reads: () => read, store };
}

/** Rows that the server has read for this connection so far. */
async function rowsRead(ask: <Row>(text: string) => Promise<readonly Row[]>): Promise<number> {
  const rows = await ask<{ Value: string }>(`SHOW SESSION STATUS LIKE 'Handler_read_%'`);
  return rows.reduce((sum, { Value }) => sum + Number(Value), 0);
}
