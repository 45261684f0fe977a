import { setTimeout } from 'node:timers/promises';
import type { QueueOptions } from '../../lib/job/queue-options.js';
import { busiestWindow } from '../support/busiest-window.js';
import { expectDeadlocksAtMost } from '../support/deadlocks.js';
import { describeOwnServers, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { cutOneConnection } from '../support/cut-connection.js';
import { processesOf } from '../support/processes.js';

const SECONDS = Number(process.env.LIMITS_SECONDS ?? 15);
const PROCESSES = 6;
const MAX_RUNNING = 25;
const RATE = { limit: 200, per: '1s', burst: 20 } as const;
const RATE_MS = 1_000;
// More than a limited queue can run between two faults.
const BACKLOG = 500;

describeOwnServers(
  'limits',
  (setup) => {
    it('of running jobs hold while workers are killed and connections are cut, and no slot leaks', async () => {
      const world = await setup();
      await world.start({ autoStart: false });
      const observed: number[] = [];
      let isOver = false;
      const observing = observeActive(world, observed, () => isOver);

      await runWithFaults(world, { maxRunning: MAX_RUNNING, concurrency: 10 }, { sleep: 40 });
      isOver = true;
      await observing;

      expect(Math.max(...observed)).toBe(MAX_RUNNING);
      expect(await activeOf(world)).toBe(0);
      await expectDeadlocksAtMost(world, 0);
    });

    it('of a rate hold while workers are killed and connections are cut', async () => {
      const world = await setup();
      await world.start({ autoStart: false });
      await world.sql('CREATE TABLE starts (claimed_at BIGINT NOT NULL, jobs INT NOT NULL)');
      await world.sql(`
          CREATE TRIGGER count_starts AFTER INSERT ON sql_queue_claims FOR EACH ROW
          INSERT INTO starts VALUES (NEW.claimed_at, JSON_LENGTH(NEW.job_ids))`);

      await runWithFaults(world, { rate: RATE, concurrency: 10 }, {});

      const starts = await world.sql<{ claimed_at: number; jobs: number }>('SELECT * FROM starts ORDER BY claimed_at');
      const times = starts.flatMap(({ claimed_at, jobs }) => Array<number>(Number(jobs)).fill(Number(claimed_at)));
      expect(times.length).toBeGreaterThanOrEqual(BACKLOG);
      expect(busiestWindow(times, RATE_MS)).toBeLessThanOrEqual(RATE.limit + RATE.burst);
    });
  },
  ['mysql', 'mariadb'],
);

/** Always has more jobs than the limits allow, with a fault every 150 to 450 ms, and then ends all of them. */
async function runWithFaults(world: World, queue: QueueOptions, payload: object): Promise<void> {
  const processes = await processesOf(world);
  const { producer } = await world.start({ autoStart: false });
  const refill = async () => {
    const [row] = await world.sql<{ jobs: number }>(`SELECT COUNT(*) AS jobs FROM sql_queue_jobs`).catch(() => []);
    const missing = row ? BACKLOG - Number(row.jobs) : 0;
    if (missing > 0)
      await producer.enqueueMany(
        'q',
        Array.from({ length: missing }, () => ({ payload })),
      );
  };
  const start = () => processes.worker({ queue: { lease: '2s', ...queue } });
  await refill();
  const workers = await Promise.all(Array.from({ length: PROCESSES }, start));
  const endsAt = Date.now() + SECONDS * 1_000;
  for (let faults = 0; Date.now() < endsAt; faults++) {
    await setTimeout(150 + Math.random() * 300);
    await refill();
    if (faults % 2) await cutOneConnection(world);
    else await processes.replaceOne(workers, start);
  }
  await eventually(async () => (await world.sql('SELECT id FROM sql_queue_jobs LIMIT 1')).length === 0);
  await Promise.all(workers.map((worker) => worker.stop()));
  expect(await processes.violations()).toEqual([]);
}

async function observeActive(world: World, observed: number[], isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    // The connection that is cut may be this one.
    await activeOf(world).then(
      (active) => observed.push(active),
      () => undefined,
    );
    await setTimeout(3);
  }
}

async function activeOf({ sql }: World): Promise<number> {
  const [row] = await sql<{ jobs: number }>(`SELECT COUNT(*) AS jobs FROM sql_queue_jobs WHERE state = 'active'`);
  return Number(row!.jobs);
}
