import type { OpenStore } from '../../lib/store/open-store.js';
import type { JobStore } from '../../lib/store/verbs/job-store.js';
import { finalBatchOf, newJob, outcomes } from '../support/jobs.js';
import { describeStoresOf, type World } from '../support/stores.js';
import { watched } from '../support/watched-reads.js';

const QUEUES = ['q', 'r'];
const FAR = 4_000_000_000_000;

const polls = {
  summarizeWork: (jobs: JobStore) => jobs.summarizeWork(QUEUES),
  readUpcomingTimes: (jobs: JobStore) => jobs.readUpcomingTimes(),
};

// Every worker polls, also while it has nothing to do.
describeStoresOf(['mysql', 'mariadb'], 'a poll', (setup) => {
  it.each([
    { rows: 'waiting jobs', add: addJobs(null) },
    { rows: 'active jobs before a waiting one', add: addActiveJobs },
    { rows: 'scheduled jobs', add: addJobs(FAR) },
    { rows: 'blocked groups', add: addBlockedGroups },
  ])('reads as many rows among 1,000 $rows of each queue as among 10', async ({ add }) => {
    const world = await setup();
    await world.jobs.chooseStrategies(new Map(QUEUES.map((queue) => [queue, 'auto'])));
    const { reads, store } = await watched(world, / AS lapse_at/);
    const readBy = async (poll: (jobs: JobStore) => Promise<unknown>) => {
      const before = reads();
      await poll(store.jobs);
      return reads() - before;
    };

    await add(world, 10);
    const few = [await readBy(polls.summarizeWork), await readBy(polls.readUpcomingTimes)];
    await add(world, 990);
    await world.sql('ANALYZE TABLE sql_queue_jobs, sql_queue_groups');
    const many = [await readBy(polls.summarizeWork), await readBy(polls.readUpcomingTimes)];

    expect(few[0]).toBeGreaterThan(0);
    expect(few[1]).toBeGreaterThan(0);
    expect(many).toEqual(few);
  });
});

function addJobs(runAtMs: number | null) {
  return async (world: World, count: number) => {
    for (const queue of QUEUES)
      await world.jobs.enqueue(Array.from({ length: count }, () => newJob({ queue, runAtMs })));
  };
}

async function addActiveJobs(world: World, count: number): Promise<void> {
  await addJobs(null)(world, count);
  await world.sql(`UPDATE sql_queue_jobs SET state = 'active', claim_id = 1`);
  await addJobs(null)(world, 1);
}

async function addBlockedGroups(world: World, count: number): Promise<void> {
  for (const queue of QUEUES) {
    const rows = Array.from({ length: count }, (_, n) => `('${queue}', 'g${count}-${n}', 'blocked', ${FAR + n}, 0, 0)`);
    await world.sql(
      `INSERT INTO sql_queue_groups (queue, group_key, state, turn, head_priority, head_id) VALUES ${rows.join(', ')}`,
    );
  }
}

// More queues than a list or a sample reads one by one.
const MANY_QUEUES = Array.from({ length: 120 }, (_, n) => `q${n}`);

describeStoresOf(['mysql', 'mariadb'], 'to choose among 120 queues,', (setup) => {
  it.each([
    { title: 'a sample of the statistics', read: (store: OpenStore) => store.stats.sample() },
    ...(['oldest', 'newest'] as const).flatMap((order) =>
      (['dead', 'scheduled'] as const).map((state) => ({
        title: `a list of ${state} jobs, ${order} first,`,
        read: ({ admin }: OpenStore) => admin.find({ state }, { order, limit: 10 }),
      })),
    ),
  ])('$title reads as many rows among 60 jobs of each queue as among 3', async ({ read }) => {
    const world = await setup();
    const { reads, store } = await watched(world, / AS ranges/);

    await addHistories(world, 3);
    await read(store);
    const few = reads();
    await addHistories(world, 57);
    await world.sql('ANALYZE TABLE sql_queue_jobs, sql_queue_history');
    await read(store);
    const many = reads() - few;

    expect(few).toBeGreaterThan(0);
    expect(many).toBe(few);
  });
});

describeStoresOf(['mysql', 'mariadb'], 'a promotion among 120 queues', (setup) => {
  it('reads the due jobs only of queues that have some', async () => {
    const world = await setup();
    await addHistories(world, 3);
    await world.put({ queue: 'q7', runAtMs: 1 }, { queue: 'q99', runAtMs: 1 });
    const { plans, reads, store } = await watched(world, / AS due_/);

    const promoted = await store.jobs.promote(100);

    expect(promoted.map(({ queue }) => queue)).toEqual(['q7', 'q99']);
    expect(reads()).toBeLessThan(20);
    // Two ranges of each queue, and two tables that gather them.
    expect(plans.filter(({ key }) => key === 'sql_queue_jobs_queue')).toHaveLength(4);
  });
});

describeStoresOf(['mysql', 'mariadb'], 'a promotion while a transaction keeps its snapshot', (setup) => {
  it('reads only due jobs, although the server counts no rows', async () => {
    const world = await setup();
    await world.put(...Array.from({ length: 100 }, () => ({})));
    const runner = (await world.connect()).createQueryRunner();
    await runner.query('START TRANSACTION WITH CONSISTENT SNAPSHOT');
    await runner.query('SELECT id FROM sql_queue_jobs LIMIT 1');
    for (let n = 0; n < 10; n++) {
      await world.put(...Array.from({ length: 500 }, () => ({ runAtMs: 1 })));
      await world.jobs.promote(500);
      await world.jobs.complete(
        finalBatchOf(await world.claim({ limit: 500 }), outcomes.complete, { retentionMs: false }),
      );
    }
    await world.sql('ANALYZE TABLE sql_queue_jobs');
    const [due] = await world.put({ runAtMs: 1 });
    const { reads, store } = await watched(world, / AS due_/);

    const promoted = await store.jobs.promote(500);
    await runner.release();

    expect(promoted.map(({ id }) => id)).toEqual([due]);
    expect(reads()).toBeLessThan(20);
  });
});

/** Adds dead and scheduled jobs to each queue. */
async function addHistories(world: World, count: number): Promise<void> {
  const each = MANY_QUEUES.flatMap((queue) => Array.from({ length: count }, () => queue));
  await world.jobs.enqueue(each.map((queue) => newJob({ queue, runAtMs: FAR })));
  await world.sql(
    `INSERT INTO sql_queue_history (id, queue, name, state, priority, attempt, created_at, finished_at, expires_at, payload)
     VALUES ${each.map((queue, n) => `(${1_000_000 * count + n}, '${queue}', 'n', 'dead', 0, 1, 0, 0, ${FAR}, 'null')`).join(', ')}`,
  );
}
