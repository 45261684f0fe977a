import { deadlocks } from '../support/deadlocks.js';
import { describeEngines } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { processesOf } from '../support/processes.js';

const JOBS = 20_000;
const WORKERS = 4;
const PRODUCERS = 2;

describeEngines(
  'four workers and two producers',
  (setup) => {
    it('complete 20,000 jobs, each once or as often as its retries say, without a single deadlock', async () => {
      const world = await setup();
      await world.start({ autoStart: false });
      const processes = await processesOf(world);
      const deadlocksBefore = await deadlocks(world);

      const workers = await Promise.all(Array.from({ length: WORKERS }, () => processes.worker()));
      const producers = await Promise.all(
        Array.from({ length: PRODUCERS }, () => processes.producer({ jobs: JOBS / PRODUCERS, failEvery: 10 })),
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
        { state: 'completed', attempt: 1, failing: 0, jobs: String(JOBS * 0.9) },
        { state: 'completed', attempt: 2, failing: 1, jobs: String(JOBS * 0.1) },
      ]);
      expect(await world.sql('SELECT id FROM sql_queue_claims')).toEqual([]);
      expect((await deadlocks(world)) - deadlocksBefore).toBe(0);
    }, 120_000);
  },
  ['mysql', 'mariadb'],
);
