import type { JobContext } from '../../lib/runtime/job-context.js';
import { behindProxy } from '../support/behind-proxy.js';
import { describeEngines, gate, plain, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { FakeClock } from '../support/fake-clock.js';
import { strikeOnce, type Sent } from '../support/wire-proxy.js';

const LEASE_MS = 30_000;
type Settings = NonNullable<Parameters<World['start']>[0]>;

const LOOK_AGAIN_MS = 2_000;
// From the shutdown timeout until the worker tries once more to write outcomes that were put off.
const LAST_FLUSH_MS = 1_250;
const LOST = JSON.stringify({ name: 'WorkerLostError', message: 'gone', code: 'WORKER_LOST' });
const queues = { q: { lease: LEASE_MS, concurrency: 5, retry: { attempts: 3, backoff: 0 } } } as const;

describeEngines(
  'a job that somebody’s open transaction has locked',
  (setup) => {
    it('holds up no other job of its flush, and completes when it is free, while others of its claim still run', async () => {
      const world = await setup();
      const runs: number[] = [];
      const over = gate();
      world.afterTest(over.open);
      const runner = world.dataSource.createQueryRunner();
      await runner.connect();
      world.afterTest(() => runner.release());
      const { producer, events, log } = await world.start({
        queues,
        handlers: {
          q: async ({ id }) => {
            runs.push(id);
            if (id === long) return over.opened;
            if (id !== locked) return;
            await runner.query('START TRANSACTION');
            await runner.query('SELECT id FROM sql_queue_jobs WHERE id = ? FOR UPDATE', [id]);
          },
        },
      });
      let [long, locked] = [-1, -1];
      await world.dataSource.transaction(async (manager) => {
        const jobs = await producer.enqueueMany('q', plain(5), { manager });
        [long, locked] = [jobs[1]!.id, jobs[2]!.id];
      });
      await events.untilCount(3, 'completed');
      await eventually(() => log.some((line) => /1 job\(s\) locked/.test(line)));
      expect(events.jobs('completed')).not.toContain(locked);
      // It goes on with other jobs meanwhile.
      await producer.enqueueMany('q', plain(3));
      await events.untilCount(6, 'completed');
      await runner.query('ROLLBACK');
      await events.untilCount(7, 'completed');

      expect(events.jobs('completed')).toContain(locked);
      expect(events.of('lost')).toEqual([]);
      expect(log.filter((line) => /1 job\(s\) locked/.test(line))).toHaveLength(1);
      over.open();
      await events.untilCount(8, 'completed');
      expect(new Set(runs).size).toBe(runs.length);
      await eventually(async () => (await world.sql('SELECT id FROM sql_queue_claims')).length === 0);
    });

    it.each(['locks', 'locks and logs'])(
      'does not keep a suspect of its claim from beginning (%s)',
      async (payload) => {
        const world = await setup();
        const { events, runner, locker, producer } = await lockedBy(world, {
          queues: { q: { ...queues.q, retry: { attempts: 9, backoff: 0 } } },
        });
        const [locked, suspect] = await producer.enqueueMany('q', [{ payload }, { payload: 'suspect' }]);
        await world.sql('UPDATE sql_queue_jobs SET attempt = 2, error = ? WHERE id = ?', [LOST, suspect!.id]);

        await runner.start();
        await events.until('completed', { jobId: suspect!.id });
        await locker.query('ROLLBACK');
        await events.until('completed', { jobId: locked!.id });

        expect(events.jobs('completed')).toEqual([suspect!.id, locked!.id]);
      },
    );

    it('does not keep its worker from listening for more as soon as that has room again', async () => {
      const world = await setup();
      const held = gate();
      const { events, log, runner, locker, producer, doorbell } = await lockedBy(world, {
        ...{ worker: { poll: { min: '1h', max: '1h' } }, queues: { q: { ...queues.q, concurrency: 1, prefetch: 1 } } },
        handlers: { r: () => 'done' },
        held: held.opened,
      });
      const elsewhere = await world.start({ autoStart: false });
      await runner.start();
      await doorbell.untilListening('q', 'r');
      const locked = await producer.enqueue('q', 'locks');
      await eventually(() => log.some((line) => /1 job\(s\) locked/.test(line)));

      await elsewhere.producer.enqueue('q', 'held');
      await events.untilCount(2, 'started');
      await doorbell.untilListening('r');
      held.open();
      await events.until('completed');
      await doorbell.untilListening('q', 'r');
      await elsewhere.producer.enqueue('q', 'more');
      await events.untilCount(2, 'completed');

      expect(events.jobs('completed')).not.toContain(locked.id);
      await locker.query('ROLLBACK');
      await events.until('completed', { jobId: locked.id });
    });

    it('and frees while its worker stops has its outcome written before that has stopped', async () => {
      const clock = new FakeClock();
      const { events, runner, locker, producer } = await lockedBy(await setup(), { clock });
      await runner.start();
      const { id } = await producer.enqueue('q', 'locks');
      await clock.resting(LOOK_AGAIN_MS);

      const stopped = runner.stop({ timeout: '20s' });
      await clock.resting(20_000);
      await clock.advance(20_000);
      await Promise.all([clock.resting(LOOK_AGAIN_MS), clock.resting(LAST_FLUSH_MS)]);
      await locker.query('ROLLBACK');
      await clock.advance(LAST_FLUSH_MS);
      await stopped;

      expect(events.jobs('completed')).toEqual([id]);
    });

    it('when outcomes are sent again does not make lost what had been written before, nor writes it twice', async () => {
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
      await runner.query('ROLLBACK');
      await events.until('failed', { attempt: 1 });

      expect(events.jobs('completed')).toEqual([done!.id]);
      expect(events.of('failed').filter(({ attempt }) => attempt === 1)).toMatchObject([{ jobId: failed!.id }]);
      expect(events.of('lost')).toEqual([]);
    });
  },
  ['mysql', 'mariadb'],
);

/** A worker whose jobs named so are locked by `locker` when they end, or wait for `held`. */
async function lockedBy(world: World, { held, handlers, ...settings }: Settings & { held?: Promise<void> }) {
  const locker = world.dataSource.createQueryRunner();
  await locker.connect();
  world.afterTest(() => locker.release());
  const q = async (job: JobContext) => {
    const { id, payload } = job;
    if (payload === 'held') await held;
    if (payload === 'locks and logs') job.log('locked');
    else if (payload !== 'locks') return;
    await locker.query('START TRANSACTION');
    await locker.query('SELECT id FROM sql_queue_jobs WHERE id = ? FOR UPDATE', [id]);
  };
  return { ...(await world.start({ ...settings, autoStart: false, handlers: { q, ...handlers } })), locker };
}

function endsJobs({ sql, transaction }: Sent): boolean {
  return sql.includes('COMMIT') && transaction.some((before) => /DELETE [^;]*sql_queue_jobs/.test(before));
}
