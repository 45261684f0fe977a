import type { OpenStore } from '../../lib/store/open-store.js';
import { abortOf } from '../support/engines.js';
import { claimOf, endOf, flushOf, idsOf, rescueRules, settled, type Claim } from '../support/jobs.js';
import { LockConnections } from '../support/lock-connections.js';
import { recordingDriver } from '../support/recording-driver.js';
import { rewritingDriver } from '../support/rewriting-driver.js';
import { describeStoresOf, type World } from '../support/stores.js';

// What the contract of claims does not say: how long a lock lasts, and what is worth nothing without it.
describeStoresOf(
  ['mysql', 'mariadb'],
  'a job claimed by lock',
  (setup) => {
    /** A worker with a lock of its own, as another process would have it. */
    async function anotherWorker({ open, connect, sql }: World) {
      const connections = new LockConnections();
      const { locks, jobs } = await open({ dataSource: await connect({ driver: connections.driver }) });
      const lock = await locks!.take('worker-2');
      const claim = async (limit: number, started = limit): Promise<Claim> => {
        const request = claimOf({ limit, started, workerId: 'worker-2', lockId: lock.id });
        return { id: request.claimId, workerId: request.workerId, jobs: await jobs.claim(request) };
      };
      return { lock, jobs, claim, endConnection: () => connections.end(sql) };
    }

    const rescue = ({ locks }: Pick<OpenStore, 'locks'>) => locks!.rescue(rescueRules());

    it('is nobody else’s while its worker holds the lock', async () => {
      const world = await setup();
      const [id] = await world.put({});
      await (await anotherWorker(world)).claim(1);

      const rescued = await rescue(world);

      expect(rescued).toEqual([]);
      expect(await world.admin.get(id!)).toMatchObject({ state: 'active', worker: 'worker-2', attempt: 1 });
    });

    it('is free at once, with its attempt used if it may have begun, when the connection of the lock ends', async () => {
      const world = await setup();
      const [begun, waiting] = await world.put({}, {});
      const { lock, claim, endConnection } = await anotherWorker(world);
      await claim(2, 1);

      await endConnection();
      await abortOf(lock.gone);
      const rescued = await rescue(world);

      expect(rescued.map(({ job: { id, workerId, mayHaveBegun } }) => [id, workerId, mayHaveBegun])).toEqual([
        [begun, 'worker-2', true],
        [waiting, 'worker-2', false],
      ]);
      expect(await world.admin.get(begun!)).toMatchObject({ state: 'waiting', attempt: 1 });
      expect(await world.admin.get(waiting!)).toMatchObject({ state: 'waiting', attempt: 0 });
      expect(await world.sql('SELECT id FROM sql_queue_claims')).toEqual([]);
    });

    it('can no more be completed by a worker whose lock is gone once another one has taken it', async () => {
      const world = await setup();
      const [id] = await world.put({});
      const { jobs, claim, endConnection } = await anotherWorker(world);
      const lost = await claim(1);
      await endConnection();
      await rescue(world);

      const settlements = await jobs.settle(endOf(lost));

      expect(idsOf([...settlements].map(({ job }) => job))).toEqual([id]);
      expect(await world.admin.get(id!)).toMatchObject({ state: 'waiting' });
    });

    it('is completed by its own worker where nobody has taken it from a lock that is gone', async () => {
      const world = await setup();
      const [id] = await world.put({});
      const { jobs, claim, endConnection } = await anotherWorker(world);
      const taken = await claim(1);
      await endConnection();

      const lost = await jobs.settle(endOf(taken));

      expect(lost.size).toBe(0);
      expect(await rescue(world)).toEqual([]);
      expect(await world.admin.get(id!)).toMatchObject({ state: 'completed' });
    });

    it('is rescued once, however many look for it', async () => {
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

    it('is free at once where its claim names a lock that is not there any more', async () => {
      const world = await setup();
      const [id] = await world.put({});
      const { lock, jobs } = await anotherWorker(world);
      await lock.release();

      await jobs.claim(claimOf({ lockId: lock.id }));
      const rescued = await rescue(world);

      expect(rescued.map(({ job }) => job.id)).toEqual([id]);
    });

    it('is left for later while its handler’s transaction has locked it, and can still complete', async () => {
      const world = await setup();
      const [id] = await world.put({});
      const { lock, jobs, claim } = await anotherWorker(world);
      const taken = await claim(1);
      await lock.release();

      const value = await jobs.completeWith(async (manager) => {
        await manager.query('SELECT id FROM sql_queue_jobs WHERE id = ? FOR UPDATE', [id]);
        const rescued = await rescue(world);
        return { value: rescued.length, settlement: settled(taken, taken.jobs[0]!) };
      });

      expect(value).toBe(0);
      expect(await world.admin.get(id!)).toMatchObject({ state: 'completed' });
      expect(await rescue(world)).toEqual([]);
      expect(await world.sql('SELECT id FROM sql_queue_claims')).toEqual([]);
    });

    it('does not begin after another one of its claim was left for later, and it was not', async () => {
      const world = await setup();
      const [locked, rescuedNow] = await world.put({}, {});
      const { lock, jobs, claim } = await anotherWorker(world);
      const taken = await claim(2, 1);
      const gone: number[] = [];
      await lock.release();

      await world.dataSource.transaction(async (manager) => {
        await manager.query('SELECT id FROM sql_queue_jobs WHERE id = ? FOR UPDATE', [locked]);
        expect((await rescue(world)).map(({ job }) => job.id)).toEqual([rescuedNow]);
      });
      const claims = [{ id: taken.id, started: 2, finished: false }];
      await jobs.settle({ ...flushOf([], { claims }), onGone: (ids) => void gone.push(...ids) });

      expect(gone).toEqual([taken.id]);
    });

    it('commits its completion, its attempt and what its handler wrote in one, or none of it', async () => {
      const world = await setup();
      await world.sql('CREATE TABLE IF NOT EXISTS effects (job BIGINT NOT NULL)');
      const [fails, works] = await world.put({}, {});
      const { jobs, claim } = await anotherWorker(world);
      const taken = await claim(2);
      const [first, second] = taken.jobs.map((job) => settled(taken, job));
      const write = (id: number) => `INSERT INTO effects (job) VALUES (${id})`;

      const failing = jobs.completeWith(async (manager) => {
        await manager.query(write(fails!));
        throw new Error(`not ${first!.job.id}`);
      });
      await expect(failing).rejects.toThrow(`not ${fails}`);
      await jobs.completeWith(async (manager) => {
        await manager.query(write(works!));
        return { value: 1, settlement: second! };
      });

      expect(await world.sql('SELECT CAST(job AS CHAR) AS job FROM effects')).toEqual([{ job: String(works) }]);
      expect(await world.admin.get(works!)).toMatchObject({ state: 'completed', attempt: 1 });
      expect(await world.admin.get(fails!)).toMatchObject({ state: 'active', attempt: 1 });
      await world.sql('DROP TABLE effects');
    });

    it.each(['skip-locked', 'optimistic', 'update'] as const)(
      'neither stands in the way of claims by %s nor is taken by them',
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

    it('makes no look, cancel or removal by others wait', async () => {
      const world = await setup();
      const [id, other] = await world.put({}, {});
      await (await anotherWorker(world)).claim(1);

      expect(await world.admin.counts('q')).toMatchObject({ active: 1, waiting: 1 });
      expect(await world.admin.remove([id!, other!])).toEqual([other]);
      expect(await world.admin.cancel(id!, () => 60_000)).toEqual({ state: 'requested', workerId: 'worker-2' });
    });

    it('also lapses with its lease, whatever becomes of the lock', async () => {
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

  it('leaves nothing behind when it is let go', async () => {
    const world = await setup();
    const lock = await world.locks!.take('worker-1');

    await lock.release();

    expect(lock.gone.aborted).toBe(true);
    expect(await rows(world)).toEqual([]);
  });

  it('is removed by whoever finds it free, once no claim names it', async () => {
    const world = await setup();
    const connections = new LockConnections();
    const { locks } = await world.open({ dataSource: await world.connect({ driver: connections.driver }) });
    await locks!.take('worker-1');
    await connections.end(world.sql);

    await world.locks!.rescue(rescueRules());

    expect(await rows(world)).toEqual([]);
  });

  it('lasts while it is pinged, and is not taken by those who look', async () => {
    const world = await setup();
    const lock = await world.locks!.take('worker-1');

    await lock.ping();
    await world.locks!.rescue(rescueRules());
    await lock.ping();

    expect(lock.gone.aborted).toBe(false);
    expect(await rows(world)).toEqual([{ id: expect.anything() }]);
    await lock.release();
  });

  it('is another one where somebody took the first for left over before it was held', async () => {
    const world = await setup();
    let taken = 0;
    const driver = recordingDriver(async (sql) => {
      if (/FROM `?sql_queue_locks`?.*FOR UPDATE$/s.test(sql) && taken++ === 0) await world.locks!.rescue(rescueRules());
    });
    const { locks } = await world.open({ dataSource: await world.connect({ driver }) });

    const lock = await locks!.take('worker-1');

    expect(taken).toBe(2);
    expect(await rows(world)).toEqual([{ id: expect.anything() }]);
    expect(await world.locks!.rescue(rescueRules())).toEqual([]);
    expect(lock.gone.aborted).toBe(false);
    await lock.release();
  });

  it('is lost where its transaction has ended without a word and somebody has removed it', async () => {
    const world = await setup();
    const driver = recordingDriver(async (sql, ask) => {
      if (!sql.endsWith('WHERE id = 0')) return;
      await ask('ROLLBACK');
      await world.locks!.rescue(rescueRules());
    });
    const { locks } = await world.open({ dataSource: await world.connect({ driver }) });
    const lock = await locks!.take('worker-1');

    await lock.ping();

    expect(lock.gone.aborted).toBe(true);
  });

  it('is lost on a server that has become read-only', async () => {
    const world = await setup();
    let isReadOnly = false;
    const refused = `SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1290, MESSAGE_TEXT = 'read-only'`;
    const driver = rewritingDriver((sql) => (isReadOnly && /^\s*DELETE/.test(sql) ? refused : sql));
    const { locks } = await world.open({ dataSource: await world.connect({ driver }) });
    const lock = await locks!.take('worker-1');

    isReadOnly = true;
    await lock.ping();

    expect(lock.gone.aborted).toBe(true);
  });
});
