import type { JobContext } from '../../lib/runtime/job-context.js';
import { abortOf, describeEngines, gate, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { FakeClock } from '../support/fake-clock.js';
import { LockConnections } from '../support/lock-connections.js';
import { behindProxy } from '../support/behind-proxy.js';
import { processesOf } from '../support/processes.js';
import { recordingDriver } from '../support/recording-driver.js';
import { commitsLook, strikeOnce, type Fate } from '../support/wire-proxy.js';

// So long that nothing of this is because a lease has lapsed.
const queue = { claim: 'lock', lease: '1h', retry: { attempts: 3, backoff: 0 } } as const;
const LOOK_EVERY_MS = 500;
const NOT_BEGUN = 'SELECT id FROM sql_queue_claims WHERE started = 0';
const FATES: Fate[] = ['cut', 'unheard'];

describeEngines(
  'a job claimed by lock',
  (setup) => {
    it('is with another worker when its process is killed, with one attempt used', async () => {
      const world = await setup();
      const processes = await processesOf(world);
      const dying = await processes.worker({ queue });
      dying.tell({ enqueue: { hold: true } });
      await dying.untilSaid('holding');
      const heir = await world.start({ queues: { q: queue }, handlers: { q: () => undefined } });

      await dying.kill();
      processes.died(dying);

      expect(await heir.events.until('completed')).toMatchObject({ attempt: 2 });
      expect(heir.events.of('rescued')).toMatchObject([{ attempt: 1, error: { code: 'WORKER_LOST' } }]);
      expect(await processes.violations()).toEqual([]);
    });

    it('that kills every process it runs in is dead when its attempts are used up', async () => {
      const world = await setup();
      const processes = await processesOf(world);
      const { producer, admin } = await world.start({ queues: { q: queue }, autoStart: false });
      const { id } = await producer.enqueue('q', { exit: true });

      for (let lives = 0; lives < 3; lives++) {
        const worker = await processes.worker({ queue });
        await worker.ended;
        processes.died(worker);
      }
      const last = await processes.worker({ queue });
      await eventually(async () => (await admin.get(id))?.state === 'dead');
      await last.stop();

      expect(await admin.get(id)).toMatchObject({ state: 'dead', attempt: 3, error: { code: 'WORKER_LOST' } });
    }, 60_000);

    it('has its signal aborted when the connection of the lock ends, and runs again under another one', async () => {
      const world = await setup();
      const connections = new LockConnections();
      const began = gate<AbortSignal>();
      const again = gate();
      const worker = await world.start({
        dataSource: await world.connect({ driver: connections.driver }),
        queues: { q: queue },
        handlers: {
          q: ({ attempt, signal }) => {
            if (attempt > 1) return again.open();
            began.open(signal);
            return again.opened;
          },
        },
      });
      const { id } = await worker.producer.enqueue('q', {});
      const signal = await began.opened;

      await connections.end(world.sql);

      expect((await abortOf(signal)).reason).toMatchObject({ code: 'LEASE_LOST' });
      await worker.events.until('completed');
      await worker.events.until('lost');
      expect(worker.log.filter((line) => line.includes('lock of this worker'))).toHaveLength(1);
      expect(await worker.admin.get(id)).toMatchObject({ state: 'completed', attempt: 2 });
    });

    it('that was being claimed while the lock was lost does not begin under it, and loses no attempt', async () => {
      const world = await setup();
      let claims = 0;
      const connections = new LockConnections(async (sql) => {
        const isRescue = / AND lock_id = /.test(sql);
        // Whoever is faster than the worker that gives them back counts an attempt.
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

      expect(worker.events.of('rescued').map(({ attempt }) => attempt)).toEqual([1]);
      expect(worker.events.of('started').map(({ attempt }) => attempt)).toEqual([1]);
    });

    it('that waits here does not begin in the attempt that others run it in, though nobody has heard that the lock is gone', async () => {
      const world = await setup();
      const began = gate();
      const end = gate();
      // It has room for these three and no more: else it might rescue them itself, and claim them again before anybody else.
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
      // Of the second the database has been told that it may begin, of the third not.
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
      'that others run is lost here, whatever became of the answer to its outcome (%s), though nobody has heard that the lock is gone',
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
        const looking = strikeOnce(proxy, fate, commitsLook);
        fail.open();
        await looking.struck;
        await worker.events.until('lost', { jobId: id });
        done.open();
        await heir.events.until('completed');

        expect(worker.events.of('failed')).toEqual([]);
        expect(await worker.admin.get(id)).toMatchObject({ state: 'completed', attempt: 2 });
      },
    );

    /** A job whose handler has done that, and goes on until the test lets it end. The worker's lock can be ended. */
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

    it('is not told that its lease is lost once its own transaction has completed it', async () => {
      const world = await setup();
      const { worker, signal, loseLock, end } = await after(world, (job) => job.transaction(() => Promise.resolve()));

      await loseLock();
      end();
      await worker.events.until('completed');

      expect(signal.aborted).toBe(false);
      await worker.runner.whenIdle();
      await eventually(async () => (await world.sql('SELECT id FROM sql_queue_claims')).length === 0);
    });

    it('stays with whom it was handed off to when the lock is lost', async () => {
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

    it('is kept by pings that nobody takes for silence, however long its lease is', async () => {
      const world = await setup();
      const clock = new FakeClock();
      let pings = 0;
      const driver = recordingDriver((sql) => {
        if (/DELETE sql_queue_locks .*WHERE id = 0/s.test(sql)) pings++;
        return Promise.resolve();
      });
      await world.start({
        ...{ clock, dataSource: await world.connect({ driver }) },
        queues: { q: { ...queue, lease: '1d' } },
        handlers: { q: () => undefined },
      });

      for (let looks = 0; looks < 40; looks++) {
        await clock.resting(LOOK_EVERY_MS);
        await clock.advance(LOOK_EVERY_MS);
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

    it('commits what its handler writes along with its completion, and nothing where the handler fails', async () => {
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
