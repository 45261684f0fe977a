import { behindProxy } from '../support/behind-proxy.js';
import { describeEngines, gate, plain } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { strikeOnce, type Sent } from '../support/wire-proxy.js';

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

    it('when outcomes are sent again does not make lost what had been written before', async () => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const runner = world.dataSource.createQueryRunner();
      await runner.connect();
      world.afterTest(() => runner.release());
      const both = gate();
      let begun = 0;
      const {
        producer,
        events,
        runner: worker,
      } = await world.start({
        ...{ queues, dataSource, autoStart: false },
        handlers: {
          q: async ({ payload }) => {
            if (++begun === 2) both.open();
            await both.opened;
            if (payload === 'fails') throw new Error('once');
          },
        },
      });
      const [done, failed] = await producer.enqueueMany('q', [{ payload: 'completes' }, { payload: 'fails' }]);
      const { struck } = strikeOnce(proxy, 'unheard', endsJobs);

      await worker.start();
      await struck;
      await runner.query('START TRANSACTION');
      await runner.query('SELECT id FROM sql_queue_jobs WHERE id = ? FOR UPDATE', [failed!.id]);
      await events.until('completed');
      await events.until('lost');
      await runner.query('ROLLBACK');

      expect(events.jobs('completed')).toEqual([done!.id]);
      expect(events.jobs('lost')).toEqual([failed!.id]);
    });
  },
  ['mysql', 'mariadb'],
);

function endsJobs({ sql, transaction }: Sent): boolean {
  return sql.includes('COMMIT') && transaction.some((before) => /DELETE [^;]*sql_queue_jobs/.test(before));
}
