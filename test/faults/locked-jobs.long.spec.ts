import type { JobContext } from '../../lib/worker/run/job-context.js';
import { behindProxy } from '../support/behind-proxy.js';
import { describeEngines, gate, plainJobs, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { FakeClock } from '../support/fake-clock.js';
import { interfereOnce, type SentStatement } from '../support/wire-proxy.js';

const LEASE_MS = 30_000;
type Settings = NonNullable<Parameters<World['start']>[0]>;

const RECHECK_MS = 2_000;
// The time from the shutdown timeout until the worker retries postponed outcomes once more.
const LAST_FLUSH_MS = 4_250;
const LOST = JSON.stringify({ name: 'WorkerLostError', message: 'gone', code: 'WORKER_LOST' });
const queues = { q: { lease: LEASE_MS, concurrency: 5, retry: { attempts: 3, backoff: 0 } } } as const;

describeEngines(
  'a job locked by an open transaction',
  (setup) => {
    it('delays no other job of its batch, and completes once unlocked while its claim still runs', async () => {
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
        const jobs = await producer.enqueueMany('q', plainJobs(5), { manager });
        [long, locked] = [jobs[1]!.id, jobs[2]!.id];
      });
      await events.untilCount(3, 'completed');
      await eventually(() => log.some((line) => /1 job\(s\), or their groups, locked/.test(line)));
      expect(events.jobs('completed')).not.toContain(locked);
      // The worker runs other jobs meanwhile.
      await producer.enqueueMany('q', plainJobs(3));
      await events.untilCount(6, 'completed');
      await runner.query('ROLLBACK');
      await events.untilCount(7, 'completed');

      expect(events.jobs('completed')).toContain(locked);
      expect(events.of('lost')).toEqual([]);
      expect(log.filter((line) => /1 job\(s\), or their groups, locked/.test(line))).toHaveLength(1);
      over.open();
      await events.untilCount(8, 'completed');
      expect(new Set(runs).size).toBe(runs.length);
      await eventually(async () => (await world.sql('SELECT id FROM sql_queue_claims')).length === 0);
    });

    it.each(['locks', 'locks and logs'])(
      'does not delay the start of a poison candidate of its claim (%s)',
      async (payload) => {
        const world = await setup();
        const { events, runner, locker, producer } = await lockedBy(world, {
          queues: { q: { ...queues.q, retry: { attempts: 9, backoff: 0 } } },
        });
        const [locked, candidate] = await producer.enqueueMany('q', [{ payload }, { payload: 'candidate' }]);
        await world.sql('UPDATE sql_queue_jobs SET attempt = 2, error = ? WHERE id = ?', [LOST, candidate!.id]);

        await runner.start();
        await events.until('completed', { jobId: candidate!.id });
        await locker.query('ROLLBACK');
        await events.until('completed', { jobId: locked!.id });

        expect(events.jobs('completed')).toEqual([candidate!.id, locked!.id]);
      },
    );

    it('does not stop its worker from listening for jobs again as soon as it has room', async () => {
      const world = await setup();
      const held = gate();
      const { events, log, runner, locker, producer, workerChannel } = await lockedBy(world, {
        ...{ worker: { poll: { min: '1h', max: '1h' } }, queues: { q: { ...queues.q, concurrency: 1, prefetch: 1 } } },
        handlers: { r: () => 'done' },
        held: held.opened,
      });
      const elsewhere = await world.start({ autoStart: false });
      await runner.start();
      await workerChannel.untilListening('q', 'r');
      const locked = await producer.enqueue('q', 'locks');
      await eventually(() => log.some((line) => /1 job\(s\), or their groups, locked/.test(line)));

      await elsewhere.producer.enqueue('q', 'held');
      await events.untilCount(2, 'started');
      await workerChannel.untilListening('r');
      held.open();
      await events.until('completed');
      await workerChannel.untilListening('q', 'r');
      await elsewhere.producer.enqueue('q', 'more');
      await events.untilCount(2, 'completed');

      expect(events.jobs('completed')).not.toContain(locked.id);
      await locker.query('ROLLBACK');
      await events.until('completed', { jobId: locked.id });
    });

    it('has its outcome stored before its worker has stopped if it is unlocked during the stop', async () => {
      const clock = new FakeClock();
      const { events, runner, locker, producer } = await lockedBy(await setup(), { clock });
      await runner.start();
      const { id } = await producer.enqueue('q', 'locks');
      await clock.untilSleeping(RECHECK_MS);

      const stopped = runner.stop({ timeout: '20s' });
      await clock.untilSleeping(20_000);
      await clock.advance(20_000);
      await Promise.all([clock.untilSleeping(RECHECK_MS), clock.untilSleeping(LAST_FLUSH_MS)]);
      await locker.query('ROLLBACK');
      await clock.advance(LAST_FLUSH_MS);
      await stopped;

      expect(events.jobs('completed')).toEqual([id]);
    });

    it('neither loses nor repeats a committed outcome of its batch when the batch is sent again', async () => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const runner = world.dataSource.createQueryRunner();
      await runner.connect();
      world.afterTest(() => runner.release());
      const both = gate();
      let started = 0;
      const {
        producer,
        events,
        runner: worker,
      } = await world.start({
        ...{ queues, dataSource, autoStart: false },
        handlers: {
          q: async ({ payload }) => {
            if (++started === 2) both.open();
            await both.opened;
            if (payload === 'fails') throw new Error('once');
          },
        },
      });
      const [done, failed] = await producer.enqueueMany('q', [{ payload: 'completes' }, { payload: 'fails' }]);
      const { interfered } = interfereOnce(proxy, 'unanswered', endsJobs);

      await worker.start();
      await interfered;
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

/**
 * A worker whose jobs with the payload `locks` are locked by `locker` when they end. Jobs with `held` wait for `held`.
 */
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

function endsJobs({ sql, transaction }: SentStatement): boolean {
  return sql.includes('COMMIT') && transaction.some((before) => /DELETE [^;]*sql_queue_jobs/.test(before));
}
