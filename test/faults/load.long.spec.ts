import { expectDeadlocksAtMost } from '../support/deadlocks.js';
import { describeEngines, describeOwnServers, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { processesOf } from '../support/processes.js';
import type { WorkerSettings } from './programs/worker.js';

const JOBS = 20_000;
const WORKERS = 4;
const PRODUCERS = 2;
// 45 runs on MariaDB caused no deadlock, but one is allowed there. MariaDB keeps the locks of active jobs that a claim
// behind a scan cursor has passed. It may then report a waiting completion batch as a deadlock, and the batch is
// retried. If claims waited for locked rows instead of skipping them, there would be 33 and more.
const MAX_DEADLOCKS = { mysql: 0, mariadb: 1 };
const STRATEGIES = ['skip-locked', 'update', 'optimistic', 'lock'] as const;

describeOwnServers(
  'four workers and two producers',
  (setup, { name }) => {
    const most = MAX_DEADLOCKS[name as keyof typeof MAX_DEADLOCKS];

    it(`complete 20,000 jobs once, or as often as retries require, with at most ${most} deadlocks`, async () => {
      const world = await setup();
      await world.start({ autoStart: false });

      await completeAll(world, JOBS, WORKERS, {});

      await expectDeadlocksAtMost(world, most);
    });
  },
  ['mysql', 'mariadb'],
);

describeEngines(
  'eight workers in four processes',
  (setup) => {
    it.each(STRATEGIES)(
      'complete 10,000 jobs with claims by %s once, or as often as retries require',
      async (claim) => {
        const world = await setup();
        await world.start({ autoStart: false });

        await completeAll(world, 10_000, 4, { workers: 2, queue: { claim } });
      },
    );
  },
  ['mysql', 'mariadb'],
);

/** Enqueues jobs, one in ten of which fails at first, runs them in several processes and checks the history. */
async function completeAll(
  world: World,
  jobs: number,
  count: number,
  settings: Partial<WorkerSettings>,
): Promise<void> {
  const processes = await processesOf(world);
  const workers = await Promise.all(Array.from({ length: count }, () => processes.worker(settings)));
  const producers = await Promise.all(
    Array.from({ length: PRODUCERS }, () => processes.producer({ jobs: jobs / PRODUCERS, failEvery: 10 })),
  );
  await Promise.all(producers.map(({ ended }) => ended));
  await eventually(async () => (await world.sql('SELECT id FROM sql_queue_jobs LIMIT 1')).length === 0);
  await Promise.all(workers.map((worker) => worker.stop()));

  expect(await processes.violations()).toEqual([]);
  expect(
    await world.sql(`
      SELECT state, attempt, payload LIKE '%failFirst%' AS failing, CAST(COUNT(*) AS CHAR) AS jobs
      FROM sql_queue_history
      GROUP BY 1, 2, 3
      ORDER BY 2`),
  ).toEqual([
    { state: 'completed', attempt: 1, failing: 0, jobs: String(jobs * 0.9) },
    { state: 'completed', attempt: 2, failing: 1, jobs: String(jobs * 0.1) },
  ]);
  expect(await world.sql('SELECT id FROM sql_queue_claims')).toEqual([]);
}
