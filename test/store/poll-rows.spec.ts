import type { JobStore } from '../../lib/store/verbs/job-store.js';
import { newJob } from '../support/jobs.js';
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

async function addBlockedGroups(world: World, count: number): Promise<void> {
  for (const queue of QUEUES) {
    const rows = Array.from({ length: count }, (_, n) => `('${queue}', 'g${count}-${n}', 'blocked', ${FAR + n}, 0, 0)`);
    await world.sql(
      `INSERT INTO sql_queue_groups (queue, group_key, state, turn, head_priority, head_id) VALUES ${rows.join(', ')}`,
    );
  }
}
