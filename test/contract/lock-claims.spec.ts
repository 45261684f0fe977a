import type { OpenStore } from '../../lib/store/open-store.js';
import { untilAborted } from '../support/engines.js';
import {
  claimFrom,
  claimRequest,
  finalBatchOf,
  completionBatchOf,
  idsOf,
  rescueRules,
  completionOf,
} from '../support/jobs.js';
import { LockConnections } from '../support/lock-connections.js';
import { interceptingDriver } from '../support/intercepting-driver.js';
import { rewritingDriver } from '../support/rewriting-driver.js';
import { describeStoresOf, type World } from '../support/stores.js';

// Beyond the contract of claims: how long a lock lasts, and which claims are invalid without their lock.
describeStoresOf(
  ['mysql', 'mariadb'],
  'a job claimed by lock',
  (setup) => {
    /** Returns a worker with its own lock, like a worker of another process. */
    async function anotherWorker({ open, connect, sql }: World) {
      const connections = new LockConnections();
      const { workerLocks, jobs } = await open({ dataSource: await connect({ driver: connections.driver }) });
      const lock = await workerLocks!.acquire('worker-2');
      const claim = (limit: number, started = limit) =>
        claimFrom(jobs, { limit, startLimit: started, workerId: 'worker-2', lockId: lock.id });
      return { lock, jobs, claim, endConnection: () => connections.end(sql) };
    }

    const rescue = ({ workerLocks }: Pick<OpenStore, 'workerLocks'>) => workerLocks!.rescue(rescueRules());

    it('stays with its worker while the worker holds the lock', async () => {
      const world = await setup();
      const [id] = await world.put({});
      await (await anotherWorker(world)).claim(1);

      const rescued = await rescue(world);

      expect(rescued).toEqual([]);
      expect(await world.admin.get(id!)).toMatchObject({ state: 'active', worker: 'worker-2', attempt: 1 });
    });

    it('is free as soon as the connection of the lock ends, with the attempt counted if it may have started', async () => {
      const world = await setup();
      const [begun, waiting] = await world.put({}, {});
      const { lock, claim, endConnection } = await anotherWorker(world);
      await claim(2, 1);

      await endConnection();
      await untilAborted(lock.lostSignal);
      const rescued = await rescue(world);

      expect(rescued.map(({ job: { id, workerId, mayHaveStarted } }) => [id, workerId, mayHaveStarted])).toEqual([
        [begun, 'worker-2', true],
        [waiting, 'worker-2', false],
      ]);
      expect(await world.admin.get(begun!)).toMatchObject({ state: 'waiting', attempt: 1 });
      expect(await world.admin.get(waiting!)).toMatchObject({ state: 'waiting', attempt: 0 });
      expect(await world.sql('SELECT id FROM sql_queue_claims')).toEqual([]);
    });

    it('cannot be completed by a worker without its lock once it was rescued', async () => {
      const world = await setup();
      const [id] = await world.put({});
      const { jobs, claim, endConnection } = await anotherWorker(world);
      const lost = await claim(1);
      await endConnection();
      await rescue(world);

      const { lost: rejected } = await jobs.complete(finalBatchOf(lost));

      expect(idsOf([...rejected].map(({ job }) => job))).toEqual([id]);
      expect(await world.admin.get(id!)).toMatchObject({ state: 'waiting' });
    });

    it('can be completed by a worker without its lock until it is rescued', async () => {
      const world = await setup();
      const [id] = await world.put({});
      const { jobs, claim, endConnection } = await anotherWorker(world);
      const taken = await claim(1);
      await endConnection();

      const { lost } = await jobs.complete(finalBatchOf(taken));

      expect(lost.size).toBe(0);
      expect(await rescue(world)).toEqual([]);
      expect(await world.admin.get(id!)).toMatchObject({ state: 'completed' });
    });

    it('is rescued once by any number of rescuers', async () => {
      const world = await setup();
      const ids = await world.put({}, {}, {}, {});
      const { claim, endConnection } = await anotherWorker(world);
      for (let n = 0; n < ids.length; n++) await claim(1);
      const others = await Promise.all([world.open(), world.open(), world.open()]);
      await endConnection();

      const rescued = (await Promise.all(others.map(rescue))).flat();
      rescued.push(...(await rescue(world)));

      expect(idsOf(rescued.map(({ job }) => job)).sort((a, b) => a - b)).toEqual(ids);
      expect(await world.admin.counts('q')).toMatchObject({ waiting: ids.length, active: 0 });
    });

    it('is free at once if its claim names a deleted lock', async () => {
      const world = await setup();
      const [id] = await world.put({});
      const { lock, jobs } = await anotherWorker(world);
      await lock.release();

      await jobs.claim(claimRequest({ lockId: lock.id }));
      const rescued = await rescue(world);

      expect(rescued.map(({ job }) => job.id)).toEqual([id]);
    });

    it('is skipped by a rescue while the transaction of its handler has locked it, and can complete', async () => {
      const world = await setup();
      const [id] = await world.put({});
      const { lock, jobs, claim } = await anotherWorker(world);
      const taken = await claim(1);
      await lock.release();

      const value = await jobs.completeWith(async (manager) => {
        await manager.query('SELECT id FROM sql_queue_jobs WHERE id = ? FOR UPDATE', [id]);
        const rescued = await rescue(world);
        return { value: rescued.length, completion: completionOf(taken, taken.jobs[0]!) };
      });

      expect(value).toBe(0);
      expect(await world.admin.get(id!)).toMatchObject({ state: 'completed' });
      expect(await rescue(world)).toEqual([]);
      expect(await world.sql('SELECT id FROM sql_queue_claims')).toEqual([]);
    });

    it('does not start after a rescue that skipped another job of its claim', async () => {
      const world = await setup();
      const [locked, rescuedNow] = await world.put({}, {});
      const { lock, jobs, claim } = await anotherWorker(world);
      const taken = await claim(2, 1);
      await lock.release();

      await world.dataSource.transaction(async (manager) => {
        await manager.query('SELECT id FROM sql_queue_jobs WHERE id = ? FOR UPDATE', [locked]);
        expect((await rescue(world)).map(({ job }) => job.id)).toEqual([rescuedNow]);
      });
      const claims = [{ id: taken.id, startLimit: 2, isFinished: false }];
      const { lostClaims } = await jobs.complete(completionBatchOf([], { claims }));

      expect([...lostClaims]).toEqual([taken.id]);
    });

    it('commits its completion, its attempt and the writes of its handler together, or none of them', async () => {
      const world = await setup();
      await world.sql('CREATE TABLE IF NOT EXISTS effects (job BIGINT NOT NULL)');
      const [fails, works] = await world.put({}, {});
      const { jobs, claim } = await anotherWorker(world);
      const taken = await claim(2);
      const [first, second] = taken.jobs.map((job) => completionOf(taken, job));
      const write = (id: number) => `INSERT INTO effects (job) VALUES (${id})`;

      const failing = jobs.completeWith(async (manager) => {
        await manager.query(write(fails!));
        throw new Error(`not ${first!.job.id}`);
      });
      await expect(failing).rejects.toThrow(`not ${fails}`);
      await jobs.completeWith(async (manager) => {
        await manager.query(write(works!));
        return { value: 1, completion: second! };
      });

      expect(await world.sql('SELECT CAST(job AS CHAR) AS job FROM effects')).toEqual([{ job: String(works) }]);
      expect(await world.admin.get(works!)).toMatchObject({ state: 'completed', attempt: 1 });
      expect(await world.admin.get(fails!)).toMatchObject({ state: 'active', attempt: 1 });
      await world.sql('DROP TABLE effects');
    });

    it.each(['skip-locked', 'optimistic', 'update'] as const)(
      'neither blocks claims by %s nor is claimed by them',
      async (strategy) => {
        const world = await setup();
        const ids = await world.put({ priority: 1 }, { priority: 2 }, { priority: 3 }, { priority: 2 });
        await world.sql('UPDATE sql_queue_jobs SET priority = 1 WHERE id = ?', [ids[1]]);
        const held = await (await anotherWorker(world)).claim(1);
        const [, middle, last, other] = ids;

        const first = await world.claim({ limit: 2, strategy, lockId: 0 });
        const rest = await world.claim({ limit: 9, strategy, lockId: 0 });

        expect(idsOf(held.jobs)).toEqual([ids[0]]);
        expect([idsOf(first.jobs), idsOf(rest.jobs)].flat()).toEqual([middle, other, last]);
      },
    );

    it('blocks no read, cancellation or removal by other processes', async () => {
      const world = await setup();
      const [id, other] = await world.put({}, {});
      await (await anotherWorker(world)).claim(1);

      expect(await world.admin.counts('q')).toMatchObject({ active: 1, waiting: 1 });
      expect(await world.admin.remove([id!, other!])).toEqual([other]);
      expect(await world.admin.cancel(id!, () => 60_000)).toMatchObject({ state: 'requested', workerId: 'worker-2' });
    });

    it('is reported before the free lock is deleted, because it can run again from then on', async () => {
      const world = await setup();
      const [id] = await world.put({});
      const { claim, endConnection } = await anotherWorker(world);
      await claim(1);
      const steps: string[] = [];
      const driver = interceptingDriver((sql) => {
        if (/DELETE .*sql_queue_locks/s.test(sql)) steps.push('delete the lock');
        return Promise.resolve();
      });
      const { workerLocks } = await world.open({ dataSource: await world.connect({ driver }) });

      await endConnection();
      await workerLocks!.rescue(rescueRules(), (rescued) => steps.push(`report ${rescued[0]!.job.id}`));

      expect(steps).toEqual([`report ${id}`, 'delete the lock']);
    });

    it('also expires with its lease, independently of the lock', async () => {
      const world = await setup();
      const [id] = await world.put({});
      await (await anotherWorker(world)).claim(1);

      world.advance(30_000);

      expect((await world.jobs.rescue(rescueRules())).map(({ job }) => job.id)).toEqual([id]);
    });
  },
  'lock',
);

describeStoresOf(['mysql', 'mariadb'], 'the lock of a worker', (setup) => {
  const rows = ({ sql }: World) => sql('SELECT id FROM sql_queue_locks');

  it('leaves no row when it is released', async () => {
    const world = await setup();
    const lock = await world.workerLocks!.acquire('worker-1');

    await lock.release();

    expect(lock.lostSignal.aborted).toBe(true);
    expect(await rows(world)).toEqual([]);
  });

  it('is deleted by a rescuer that finds it free, once no claim names it', async () => {
    const world = await setup();
    const connections = new LockConnections();
    const { workerLocks } = await world.open({ dataSource: await world.connect({ driver: connections.driver }) });
    await workerLocks!.acquire('worker-1');
    await connections.end(world.sql);

    await world.workerLocks!.rescue(rescueRules());

    expect(await rows(world)).toEqual([]);
  });

  it('lasts while it is pinged, and is not taken by a rescuer', async () => {
    const world = await setup();
    const lock = await world.workerLocks!.acquire('worker-1');

    await lock.ping();
    await world.workerLocks!.rescue(rescueRules());
    await lock.ping();

    expect(lock.lostSignal.aborted).toBe(false);
    expect(await rows(world)).toEqual([{ id: expect.anything() }]);
    await lock.release();
  });

  it('is acquired again if a rescuer deleted its row before it was locked', async () => {
    const world = await setup();
    let taken = 0;
    const driver = interceptingDriver(async (sql) => {
      if (/FROM `?sql_queue_locks`?.*FOR UPDATE$/s.test(sql) && taken++ === 0)
        await world.workerLocks!.rescue(rescueRules());
    });
    const { workerLocks } = await world.open({ dataSource: await world.connect({ driver }) });

    const lock = await workerLocks!.acquire('worker-1');

    expect(taken).toBe(2);
    expect(await rows(world)).toEqual([{ id: expect.anything() }]);
    expect(await world.workerLocks!.rescue(rescueRules())).toEqual([]);
    expect(lock.lostSignal.aborted).toBe(false);
    await lock.release();
  });

  it('is lost if its transaction has ended unnoticed and a rescuer has deleted it', async () => {
    const world = await setup();
    const driver = interceptingDriver(async (sql, ask) => {
      if (!sql.endsWith('WHERE id = 0')) return;
      await ask('ROLLBACK');
      await world.workerLocks!.rescue(rescueRules());
    });
    const { workerLocks } = await world.open({ dataSource: await world.connect({ driver }) });
    const lock = await workerLocks!.acquire('worker-1');

    await lock.ping();

    expect(lock.lostSignal.aborted).toBe(true);
  });

  it('is lost on a server that has become read-only', async () => {
    const world = await setup();
    let isReadOnly = false;
    const refused = `SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1290, MESSAGE_TEXT = 'read-only'`;
    const driver = rewritingDriver((sql) => (isReadOnly && /^\s*DELETE/.test(sql) ? refused : sql));
    const { workerLocks } = await world.open({ dataSource: await world.connect({ driver }) });
    const lock = await workerLocks!.acquire('worker-1');

    isReadOnly = true;
    await lock.ping();

    expect(lock.lostSignal.aborted).toBe(true);
  });
});
