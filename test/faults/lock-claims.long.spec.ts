import type { JobContext } from '../../lib/worker/run/job-context.js';
import { untilAborted, describeEngines, gate, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { FakeClock } from '../support/fake-clock.js';
import { LockConnections } from '../support/lock-connections.js';
import { behindProxy } from '../support/behind-proxy.js';
import { processesOf } from '../support/processes.js';
import { interceptingDriver } from '../support/intercepting-driver.js';
import { commitsSurvivingCompletions, interfereOnce, type ProxyAction } from '../support/wire-proxy.js';

// Long enough that no lease expires during a test.
const queue = { claim: 'lock', lease: '1h', retry: { attempts: 3, backoff: 0 } } as const;
const LOCK_CHECK_INTERVAL_MS = 500;
const NOT_BEGUN = 'SELECT id FROM sql_queue_claims WHERE start_limit = 0';
const FATES: ProxyAction[] = ['cut', 'unanswered'];

describeEngines(
  'a job claimed by lock',
  (setup) => {
    it('goes to another worker when its process is killed, with one attempt used', async () => {
      const world = await setup();
      const processes = await processesOf(world);
      const dying = await processes.worker({ queue });
      dying.send({ enqueue: { hold: true } });
      await dying.untilMessage('holding');
      const heir = await world.start({ queues: { q: queue }, handlers: { q: () => undefined } });

      await dying.kill();
      processes.recordDeath(dying);

      expect(await heir.events.until('completed')).toMatchObject({ attempt: 2 });
      // The server may answer the claim and the completion before it answers the commit of the rescue.
      expect(await heir.events.until('rescued')).toMatchObject({ attempt: 1, error: { code: 'WORKER_LOST' } });
      expect(await processes.violations()).toEqual([]);
    });

    it('is dead after its last attempt if it kills every process that runs it', async () => {
      const world = await setup();
      const processes = await processesOf(world);
      const { producer, admin } = await world.start({ queues: { q: queue }, autoStart: false });
      const { id } = await producer.enqueue('q', { exit: true });

      for (let lives = 0; lives < 3; lives++) {
        const worker = await processes.worker({ queue });
        await worker.ended;
        processes.recordDeath(worker);
      }
      const last = await processes.worker({ queue });
      await eventually(async () => (await admin.get(id))?.state === 'dead');
      await last.stop();

      expect(await admin.get(id)).toMatchObject({ state: 'dead', attempt: 3, error: { code: 'WORKER_LOST' } });
    });

    it('has its signal aborted when the connection of the lock ends, and runs again in another process', async () => {
      const world = await setup();
      const connections = new LockConnections();
      const began = gate<AbortSignal>();
      // A handler that ends before a rescue has taken its job completes it.
      const end = gate();
      const worker = await world.start({
        dataSource: await world.connect({ driver: connections.driver }),
        queues: { q: queue },
        handlers: {
          q: async ({ signal }) => {
            began.open(signal);
            await end.opened;
          },
        },
      });
      const { id } = await worker.producer.enqueue('q', {});
      const signal = await began.opened;
      // A process does not rescue a job that it runs.
      const other = await world.start({ queues: { q: queue }, handlers: { q: () => undefined } });

      await connections.end(world.sql);

      expect((await untilAborted(signal)).reason).toMatchObject({ code: 'LEASE_LOST' });
      await other.events.until('completed');
      end.open();
      await worker.events.until('lost');
      expect(worker.log.filter((line) => line.includes('lock of this worker'))).toHaveLength(1);
      expect(await worker.admin.get(id)).toMatchObject({ state: 'completed', attempt: 2 });
    });

    it('does not start under a lock that is lost during the claim, and loses no attempt', async () => {
      const world = await setup();
      let claims = 0;
      const connections = new LockConnections(async (sql) => {
        const isRescue = / AND lock_id = /.test(sql);
        // A worker that rescues the jobs before this worker releases them would count an attempt.
        if (isRescue) await eventually(async () => (await world.sql(NOT_BEGUN)).length > 0);
        if (!/INSERT INTO `?sql_queue_claims/.test(sql) || claims++ > 0) return;
        await connections.end(world.sql);
        await eventually(() => worker.log.some((line) => line.includes('lock of this worker is lost')));
      });
      const worker = await world.start({
        dataSource: await world.connect({ driver: connections.driver }),
        queues: { q: queue },
        handlers: { q: () => undefined },
      });

      await worker.producer.enqueue('q', {});
      await worker.events.until('completed');
      // The server may answer the claim and the completion before it answers the commit of the rescue.
      await worker.events.until('rescued');

      expect(worker.events.of('rescued').map(({ attempt }) => attempt)).toEqual([1]);
      expect(worker.events.of('started').map(({ attempt }) => attempt)).toEqual([1]);
    });

    it('does not start from the prefetch buffer after another worker has rescued it unnoticed', async () => {
      const world = await setup();
      const began = gate();
      const end = gate();
      // The worker has room for these three jobs only. With more room it might rescue and claim them again before the
      // second worker does.
      const worker = await world.start({
        queues: { q: { ...queue, concurrency: 1, prefetch: 2 } },
        handlers: {
          q: async () => {
            began.open();
            await end.opened;
          },
        },
        autoStart: false,
      });
      const jobs = await worker.producer.enqueueMany('q', [{ payload: 1 }, { payload: 2 }, { payload: 3 }]);
      // The start limit of the claim covers the second job, but not the third.
      const third = jobs[2]!.id;
      await worker.runner.start();
      await began.opened;

      await world.sql('UPDATE sql_queue_claims SET lock_id = 1');
      const heir = await world.start({ queues: { q: queue }, handlers: { q: () => undefined } });
      await heir.events.until('completed', { jobId: third });
      end.open();
      await worker.events.until('lost');
      await worker.runner.whenIdle();

      expect(heir.events.of('started').find(({ jobId }) => jobId === third)).toMatchObject({ attempt: 1 });
      expect(worker.events.of('started').map(({ jobId }) => jobId)).not.toContain(third);
    });

    it.each(FATES)(
      'is lost to its worker after an unnoticed rescue, even if the answer to its outcome is lost (%s)',
      async (fate) => {
        const { world, proxy, dataSource } = await behindProxy(await setup());
        const began = gate();
        const fail = gate();
        const worker = await world.start({
          ...{ dataSource, queues: { q: { ...queue, concurrency: 1, prefetch: 0 } } },
          handlers: {
            q: async () => {
              began.open();
              await fail.opened;
              throw new Error('here');
            },
          },
        });
        const { id } = await worker.producer.enqueue('q', {});
        await began.opened;

        await world.sql('UPDATE sql_queue_claims SET lock_id = 1');
        const done = gate();
        const heir = await world.start({ queues: { q: queue }, handlers: { q: () => done.opened } });
        await heir.events.until('started');
        const completing = interfereOnce(proxy, fate, commitsSurvivingCompletions);
        fail.open();
        await completing.interfered;
        await worker.events.until('lost', { jobId: id });
        done.open();
        await heir.events.until('completed');

        expect(worker.events.of('failed')).toEqual([]);
        expect(await worker.admin.get(id)).toMatchObject({ state: 'completed', attempt: 2 });
      },
    );

    /** A job whose handler has called `act` and runs until `end`. `loseLock` ends the connection of the lock. */
    async function after(world: World, act: (job: JobContext) => Promise<unknown>) {
      const connections = new LockConnections();
      const done = gate<AbortSignal>();
      const end = gate();
      const worker = await world.start({
        dataSource: await world.connect({ driver: connections.driver }),
        queues: { q: queue },
        handlers: {
          q: async (job) => {
            await act(job);
            done.open(job.signal);
            await end.opened;
          },
        },
      });
      const { id } = await worker.producer.enqueue('q', {});
      const signal = await done.opened;
      const loseLock = async () => {
        await connections.end(world.sql);
        await eventually(() => worker.log.some((line) => line.includes('lock of this worker is lost')));
      };
      return { worker, id, signal, loseLock, end: end.open };
    }

    it('sees no aborted signal when the lock is lost after its own transaction has completed it', async () => {
      const world = await setup();
      const { worker, signal, loseLock, end } = await after(world, (job) => job.transaction(() => Promise.resolve()));

      await loseLock();
      end();
      await worker.events.until('completed');

      expect(signal.aborted).toBe(false);
      await worker.runner.whenIdle();
      await eventually(async () => (await world.sql('SELECT id FROM sql_queue_claims')).length === 0);
    });

    it('stays with its claim holder after a hand-off when the lock is lost', async () => {
      const world = await setup();
      const { worker, id, signal, loseLock, end } = await after(world, (job) => job.handOff({ lease: '2h' }));

      await loseLock();
      const { id: other } = await worker.producer.enqueue('q', {});
      await eventually(async () => (await worker.admin.get(other))?.state === 'active');
      end();

      expect(signal.aborted).toBe(false);
      expect(worker.events.of('rescued')).toEqual([]);
      expect(await worker.admin.get(id)).toMatchObject({ state: 'active', attempt: 1 });
    });

    it('has its lock pinged regularly even if its lease lasts a day', async () => {
      const world = await setup();
      const clock = new FakeClock();
      let pings = 0;
      const driver = interceptingDriver((sql) => {
        if (/DELETE .*sql_queue_locks .*WHERE id = 0/s.test(sql)) pings++;
        return Promise.resolve();
      });
      await world.start({
        ...{ clock, dataSource: await world.connect({ driver }) },
        queues: { q: { ...queue, lease: '1d' } },
        handlers: { q: () => undefined },
      });

      for (let checks = 0; checks < 40; checks++) {
        await clock.untilSleeping(LOCK_CHECK_INTERVAL_MS);
        await clock.advance(LOCK_CHECK_INTERVAL_MS);
      }

      expect(pings).toBeGreaterThan(0);
    });

    it('leaves neither a claim nor a lock when its worker stops', async () => {
      const world = await setup();
      const worker = await world.start({ queues: { q: queue }, handlers: { q: () => undefined } });
      await worker.producer.enqueue('q', {});
      await worker.events.until('completed');

      await worker.runner.stop();

      expect(await world.sql('SELECT id FROM sql_queue_claims')).toEqual([]);
      expect(await world.sql('SELECT id FROM sql_queue_locks')).toEqual([]);
    });

    it('commits the writes of its handler with its completion, and none if the handler fails', async () => {
      const world = await setup();
      await world.sql('CREATE TABLE effects (job BIGINT NOT NULL)');
      const worker = await world.start({
        queues: { q: queue },
        handlers: {
          q: (job) =>
            job.transaction(async (manager) => {
              await manager.query('INSERT INTO effects (job) VALUES (?)', [job.id]);
              if (job.attempt === 1) throw new Error('not yet');
              return 'done';
            }),
        },
      });

      const { id } = await worker.producer.enqueue('q', {});
      await worker.events.until('completed');

      expect(await world.sql('SELECT CAST(job AS CHAR) AS job FROM effects')).toEqual([{ job: String(id) }]);
      expect(await worker.admin.get(id)).toMatchObject({ state: 'completed', attempt: 2, result: 'done' });
    });
  },
  ['mysql', 'mariadb'],
);
