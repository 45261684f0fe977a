import { signalHash } from '../../lib/job/signal.js';
import type { JobSearch } from '../../lib/store/admin/admin-store.js';
import type { AuditEntry } from '../../lib/store/features/audit/audit-store.js';
import { fillTables } from '../support/fill-tables.js';
import { readPages } from '../support/read-pages.js';
import { errorsRow, metricsRow } from '../support/metrics.js';
import { describeStoresOf, type World } from '../support/stores.js';
import { watched } from '../support/watched-reads.js';

// The cost of a dead-letter page must not grow with the number of completed jobs.
describeStoresOf(['mysql', 'mariadb'], 'a page of finished jobs', (setup) => {
  it.each([
    { state: 'dead' },
    { queue: 'q', state: 'dead' },
    { queue: 'q', state: 'dead', name: 'n', error: 'X' },
    { queue: 'dead' },
  ] as const)('reads only its own part of index state in a long history (%o)', async (filter) => {
    const world = await setup();
    await fillTables(world.dataSource, 10_000);
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

describeStoresOf(['mysql', 'mariadb'], 'a page of unfinished jobs', (setup) => {
  it.each([{}, { state: 'waiting' }, { state: 'waiting', name: 'default' }] as const)(
    'reads only the few jobs of its queue among many (%o)',
    async (filter) => {
      const world = await setup();
      await fillTables(world.dataSource, 10_000);
      const ids = await world.put({ queue: 'few' }, { queue: 'few', priority: -1 }, { queue: 'few' });
      const { reads, store } = await watched(world, /FROM sql_queue_jobs/);

      const found = await readPages((page) => store.admin.find({ queue: 'few', ...filter }, page), {
        order: 'oldest',
        limit: 2,
      });

      expect(found.flat().map(({ id }) => id)).toEqual(ids);
      expect(reads()).toBeLessThan(2_000);
    },
  );
});

describeStoresOf(['mysql', 'mariadb'], 'a page of the waiting jobs of a group', (setup) => {
  it.each(['oldest', 'newest'] as const)('reads only its own part of index queue, %s first', async (order) => {
    const world = await setup();
    await fillTables(world.dataSource, 10_000);
    const numbers = 'FROM sql_queue_history WHERE id % 2 = 0';
    await world.sql(`INSERT INTO sql_queue_jobs (queue, payload, runnable, run_at, group_key)
      SELECT 'grouped', '1', 3, NULL, CONCAT('g', id % 1000) ${numbers}`);
    await world.sql('ANALYZE TABLE sql_queue_jobs');
    const { reads, store } = await watched(world, /FROM sql_queue_jobs/);

    const { jobs } = await store.admin.find({ queue: 'grouped', group: 'g8', state: 'waiting' }, { order, limit: 3 });

    expect(jobs.map(({ group }) => group)).toEqual(['g8', 'g8', 'g8']);
    expect(reads()).toBeLessThan(300);
  });
});

// For every filter, any number of jobs, and from either end.
describeStoresOf(['mysql', 'mariadb'], 'a page of 20 among 100,000 live and 100,000 finished jobs', (setup) => {
  it('examines a bounded number of rows', async () => {
    const world = await setup();
    await fillTables(world.dataSource, 100_000);
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
  });
});

/** Returns each kind of filter, for all queues, for the queue with nearly all jobs, and for a queue with three. */
function filters(): JobSearch[] {
  const states = [undefined, 'active', 'scheduled', 'waiting', 'completed', 'dead'] as const;
  const conditions = [{}, { name: 'unknown' }, { error: 'E_UNKNOWN' }, { finishedAfter: new Date(2e12) }];
  return [undefined, 'q', 'few', 'none'].flatMap((queue) =>
    states.flatMap((state) =>
      conditions.map((more) => ({ ...(queue && { queue }), ...(state && { state }), ...more })),
    ),
  );
}

describeStoresOf(['mysql', 'mariadb'], 'a page of unassigned jobs', (setup) => {
  it.each(['oldest', 'newest'] as const)('reads only its own part of index queue, %s first', async (order) => {
    const world = await setup();
    await fillTables(world.dataSource, 10_000);
    const { reads, plans, store } = await watched(world, /FROM sql_queue_jobs/);

    const found = await store.consumer.listUnassigned('q', { order, limit: 20 });

    expect(found).toHaveLength(20);
    expect(plans.filter(({ Extra }) => /filesort/.test(Extra ?? ''))).toEqual([]);
    expect(reads()).toBeLessThan(500);
  });
});

describeStoresOf(['mysql', 'mariadb'], 'a page of groups with the numbers of their jobs', (setup) => {
  it('reads a bounded number of jobs of each group, however many it has', async () => {
    const world = await setup();
    await fillTables(world.dataSource, 10_000);
    const insert = 'INSERT INTO sql_queue_jobs (queue, payload, runnable, run_at, group_key)';
    const numbers = 'FROM sql_queue_history WHERE id % 2 = 0';
    for (const group of ['a', 'b']) {
      await world.sql(`${insert} SELECT 'grouped', '1', 3, NULL, '${group}' ${numbers}`);
      await world.sql(`${insert} SELECT 'grouped', '1', 0, 4000000000000, '${group}' ${numbers}`);
    }
    const { reads, store } = await watched(world, /FROM sql_queue_jobs/);

    const counts = await store.groups.counts('grouped', ['a', 'b', 'none'], { waiting: 100, scheduled: 300 });

    expect(counts.map(({ waiting }) => waiting)).toEqual([100, 100, 0]);
    expect(counts.reduce((sum, { scheduled }) => sum + scheduled, 0)).toBe(300);
    // Each row is read from the index, from the bounded part and from the groups.
    expect(reads()).toBeLessThan(2_000);
    const [exact] = await store.groups.counts('grouped', ['b']);
    const [{ size }] = (await world.sql(`SELECT COUNT(*) AS size ${numbers}`)) as [{ size: string }];
    expect(exact).toEqual({ waiting: Number(size), scheduled: Number(size), active: 0 });
  });
});

describeStoresOf(['mysql', 'mariadb'], 'the promotion of due jobs', (setup) => {
  it.each([
    ['fresh', 10],
    // MariaDB keeps the statistics of a table from when it opened it: if it was empty, it ignores the index order.
    ['from the empty table', 10],
    ['fresh', 40],
  ])(
    'reads only a few jobs of each queue among many (statistics of the table %s, %i queues)',
    async (statistics, queues) => {
      const world = await setup();
      await fillTables(world.dataSource, 10_000);
      await world.put(...Array.from({ length: queues }, (_, n) => ({ queue: `n${n}`, delayMs: 1_000 })));
      if (statistics === 'fresh') await world.sql('ANALYZE TABLE sql_queue_jobs');
      world.advance(2_000);
      const { reads, store } = await watched(world, /(DISTINCT |MIN\()queue/);

      const { length: promoted } = await store.jobs.promote(1_000);

      expect(promoted).toBe(queues);
      expect(reads()).toBeLessThan(1_000);
    },
  );
});

describeStoresOf(['mysql', 'mariadb'], 'the last hour of 50 queues among 200,000 rows', (setup) => {
  it('is read from their part of the primary key', async () => {
    const world = await setup();
    const now = await world.metrics.readTime();
    const [minute, hour] = [60_000, 3_600_000];
    const places = (step: number) => ({ stepMs: step, recorder: 0, completed: 1 });
    await world.metrics.save(
      Array.from({ length: 200_000 }, (_, n) => {
        const step = n % 2 === 0 ? minute : hour;
        return metricsRow({
          ...places(step),
          queue: `q${n % 199}`,
          startsAtMs: now - (now % hour) - 3 * hour - n * step,
        });
      }),
    );
    const names = Array.from({ length: 50 }, (_, n) => `q${n}`);
    await world.metrics.save(
      names.map((queue) => metricsRow({ ...places(minute), queue, startsAtMs: now - (now % minute) - 5 * minute })),
    );
    for (const statistics of ['stale', 'fresh']) {
      if (statistics === 'fresh') await world.sql('ANALYZE TABLE sql_queue_metrics');
      const { plans, reads, store } = await watched(world, /FROM sql_queue_metrics/);

      const rows = await store.metrics.read(names, { fromMs: null, toMs: null, stepMs: minute });

      expect(rows).toHaveLength(50);
      const ofMetrics = plans.filter(({ table }) => table === 'sql_queue_metrics');
      expect(ofMetrics.map(({ key, type }) => `${key} ${type}`)).toEqual(
        Array.from({ length: 4 }, () => 'PRIMARY range'),
      );
      expect(reads()).toBeLessThan(1_500);
    }
  });
});

// The table has a row per error and minute, and the rows of a year.
describeStoresOf(['mysql', 'mariadb'], 'the counted errors of the last hour among 200,000 rows', (setup) => {
  it.each([
    ['all queues', null],
    ['one queue', 'q'],
  ])('of %s are read from their part of an index', async (_, queue) => {
    const world = await setup();
    await fillErrors(world, 200_000);
    await world.metrics.save(
      [],
      await Promise.all(
        [1, 20].map(async (minutes) =>
          errorsRow({ startsAtMs: (await world.metrics.readTime()) - minutes * 60_000, failed: 9 }),
        ),
      ),
    );
    for (const statistics of ['stale', 'fresh']) {
      if (statistics === 'fresh') await world.sql('ANALYZE TABLE sql_queue_errors');
      const { plans, reads, store } = await watched(world, /FROM sql_queue_(errors|jobs|history)/);

      const errors = await store.metrics.readErrors({ queue, fromMs: null, toMs: null, limit: 100 });

      expect(errors).toMatchObject([{ queue: 'q', error: 'E1', failed: 18 }]);
      const ofErrors = plans.filter(({ table }) => table === 'sql_queue_errors');
      expect(new Set(ofErrors.map(({ key }) => key))).toEqual(
        new Set([queue === null ? 'sql_queue_errors_fold' : 'PRIMARY']),
      );
      expect(plans.filter(({ table, type }) => table?.startsWith('sql_queue_') && type === 'ALL')).toEqual([]);
      expect(reads()).toBeLessThan(500);
    }
  });
});

/** Rows of hours and minutes that are older than the last hour. */
async function fillErrors(world: World, count: number): Promise<void> {
  const now = await world.metrics.readTime();
  const [hour] = [3_600_000];
  const old = now - (now % hour) - 3 * hour;
  const rows = Array.from({ length: count }, (_, n) =>
    n % 2 === 0
      ? errorsRow({
          queue: n % 3 === 0 ? 'q' : `q${n % 50}`,
          recorder: 0,
          stepMs: hour,
          startsAtMs: old - (n % 700) * hour,
          error: `E${n % 97}.${n}`,
        })
      : errorsRow({
          queue: n % 3 === 0 ? 'q' : `q${n % 50}`,
          recorder: 0,
          stepMs: 60_000,
          startsAtMs: old - (n % 1_200) * 60_000,
          error: `E${n % 97}.${n}`,
        }),
  );
  await world.metrics.save([], rows);
}

describeStoresOf(['mysql', 'mariadb'], 'a page of flows', (setup) => {
  it.each([{}, { state: 'stuck' }, { state: 'completed' }, { queue: 'none' }] as const)(
    'reads a bounded number of rows of many flows and of one with 10,000 children (%o)',
    async (filter) => {
      const world = await setup();
      await fillTables(world.dataSource, 15_000);
      for (const table of ['flows', 'edges']) await world.sql(`DELETE FROM sql_queue_${table}`);
      const numbers = '(SELECT id - 1000000 AS n FROM sql_queue_history) numbers';
      const flows = 'INSERT INTO sql_queue_flows (id, created_at, expires_at)';
      await world.sql(`${flows} SELECT n, 1, 4000000000000 FROM ${numbers} WHERE n BETWEEN 1 AND 3000`);
      const edges = 'INSERT INTO sql_queue_edges (job_id, needs, queue, name, on_failure, state, outcome)';
      const ended = `'q', 'n', 'run', 'done', 'completed'`;
      await world.sql(`${edges} SELECT -n, n, ${ended} FROM ${numbers} WHERE n BETWEEN 1 AND 2999`);
      const open = `'q', 'n', 'wait', 'open', ''`;
      await world.sql(`${edges} VALUES (-3000, 900000, ${open})`);
      await world.sql(`${edges} SELECT 900000, n, ${open} FROM ${numbers} WHERE n BETWEEN 3001 AND 13000`);
      await world.sql('ANALYZE TABLE sql_queue_flows, sql_queue_edges');
      const { plans, reads, store } = await watched(world, /FROM sql_queue_(flows|edges|jobs|history)/);

      const page = await store.flows.list({ order: 'newest', limit: 20 }, filter);

      if (!('state' in filter) && !('queue' in filter))
        expect(page.flows).toMatchObject([{ id: 3000, atLeast: true }, ...Array.from({ length: 19 }, () => ({}))]);
      const own = plans.filter(({ table }) => table !== null && table.startsWith('sql_queue'));
      expect(own.filter(({ key, type }) => key !== 'PRIMARY' || type === 'ALL')).toEqual([]);
      expect(own.filter(({ Extra }) => /filesort|temporary/.test(Extra ?? ''))).toEqual([]);
      // The rest of the large level is read from the table and from its bounded part.
      expect(reads()).toBeLessThan(30_000);
    },
  );
});

describeStoresOf(['mysql', 'mariadb'], 'the relatives of a job', (setup) => {
  it('are a bounded read of indexes among 10,000 parents and 10,000 children', async () => {
    const world = await setup();
    await fillTables(world.dataSource, 15_000);
    await world.sql('DELETE FROM sql_queue_edges');
    const numbers = '(SELECT id - 1000000 AS n FROM sql_queue_history) numbers';
    const edges = 'INSERT INTO sql_queue_edges (job_id, needs, queue, name, on_failure, state, outcome)';
    const open = `'q', 'n', 'wait', 'open', ''`;
    await world.sql(`${edges} SELECT 900000, n, ${open} FROM ${numbers} WHERE n BETWEEN 1 AND 10000`);
    await world.sql(`${edges} SELECT n + 2000000, 900000, ${open} FROM ${numbers} WHERE n BETWEEN 1 AND 10000`);
    await world.sql(`${edges} SELECT -1, n + 2000000, ${open} FROM ${numbers} WHERE n BETWEEN 1 AND 10000`);
    await world.sql('ANALYZE TABLE sql_queue_edges');
    const { plans, reads, store } = await watched(world, /FROM sql_queue_(edges|jobs|history)/);

    const { parents, children } = await store.flows.relatives(900_000, 20);

    expect([parents.jobs.length, children.jobs.length]).toEqual([20, 20]);
    expect(parents).toMatchObject({ count: 1_000, atLeast: true });
    expect(parents.jobs[0]).toMatchObject({ id: 2_000_001, queue: 'q', name: 'n' });
    const own = plans.filter(({ table }) => table !== null && /^(sql_queue|e$|n$)/.test(table));
    expect(own.filter(({ type }) => type === 'ALL')).toEqual([]);
    expect(own.filter(({ Extra }) => /filesort|temporary/.test(Extra ?? ''))).toEqual([]);
    expect(reads()).toBeLessThan(5_000);
  });
});

describeStoresOf(['mysql', 'mariadb'], 'a page of waits for signals', (setup) => {
  it.each([{}, { name: 'unknown' }, { name: 'go', key: 'all' }, { queue: 'none' }] as const)(
    'reads a bounded part of the index of signals among 15,000 waits (%o)',
    async (filter) => {
      const world = await setup();
      await fillTables(world.dataSource, 15_000);
      const { plans, reads, store } = await watched(world, /FROM sql_queue_steps/);

      for (const statistics of ['stale', 'fresh']) {
        await world.sql(`DELETE FROM sql_queue_steps`);
        await world.sql(
          `INSERT INTO sql_queue_steps (job_id, name, state, until_at, signal_hash, signal_key, expires_at)
           SELECT id, 'go', 'waiting', 4000000000000, '${signalHash('go', 'all')}', 'all', 4000000000000 FROM sql_queue_jobs`,
        );
        if (statistics === 'fresh') await world.sql('ANALYZE TABLE sql_queue_steps');
        const { waits } = await store.steps.waits({ order: 'oldest', limit: 20 }, filter);
        expect(waits).toHaveLength('queue' in filter || ('name' in filter && filter.name === 'unknown') ? 0 : 20);
      }
      const audit = { id: 1, verb: 'signal', queue: undefined, by: null, details: '{}', count: 0, queues: new Set('') };
      const signal = { name: 'go', key: 'all', hash: signalHash('go', 'all'), data: null };
      await store.steps.signal(signal, { audit: audit as AuditEntry });

      const own = plans.filter(({ table }) => table === 's' || table === 'j');
      expect([...new Set(own.map(({ table, key }) => `${table} ${key}`))].sort()).toEqual([
        'j PRIMARY',
        's sql_queue_steps_signal',
      ]);
      expect(own.filter(({ type, Extra }) => type === 'ALL' || /filesort|temporary/.test(Extra ?? ''))).toEqual([]);
      expect(reads()).toBeLessThan(20_000);
    },
  );
});
