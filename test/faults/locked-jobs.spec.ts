import { describeEngines, plain } from '../support/engines.js';
import { eventually } from '../support/eventually.js';

const LEASE_MS = 30_000;
const queues = { q: { lease: LEASE_MS, concurrency: 5, retry: { attempts: 3, backoff: 0 } } } as const;

describeEngines(
  'a job that somebody’s open transaction has locked',
  (setup) => {
    it('holds up no other job of its flush, and runs again when it is free and its lease has lapsed', async () => {
      const world = await setup();
      const runs: number[] = [];
      const runner = world.dataSource.createQueryRunner();
      await runner.connect();
      world.afterTest(() => runner.release());
      const { producer, events, log } = await world.start({
        queues,
        handlers: {
          q: async ({ id }) => {
            runs.push(id);
            if (id !== locked || runs.filter((run) => run === id).length > 1) return;
            await runner.query('START TRANSACTION');
            await runner.query('SELECT id FROM sql_queue_jobs WHERE id = ? FOR UPDATE', [id]);
          },
        },
      });
      let locked = -1;
      await world.dataSource.transaction(async (manager) => {
        const jobs = await producer.enqueueMany('q', plain(5), { manager });
        locked = jobs[2]!.id;
      });
      await events.untilCount(4, 'completed');
      await events.until('lost');
      expect(events.jobs('completed')).not.toContain(locked);
      expect(log.filter((line) => /1 job\(s\) locked/.test(line))).toHaveLength(1);
      // It goes on with other jobs meanwhile.
      await producer.enqueueMany('q', plain(3));
      await events.untilCount(7, 'completed');
      await runner.query('ROLLBACK');
      world.advance(2 * LEASE_MS);
      await events.untilCount(8, 'completed');

      expect(events.jobs('completed')).toContain(locked);
      await eventually(async () => (await world.sql('SELECT id FROM sql_queue_claims')).length === 0);
    });
  },
  ['mysql', 'mariadb'],
);
