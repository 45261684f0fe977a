import type { EntityManager } from 'typeorm';
import type { ClaimHolder } from '../../lib/consumer/claim-holder.js';
import type { QueueConsumer } from '../../lib/consumer/queue-consumer.js';
import { describeEngines, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { rescueRules } from '../support/jobs.js';

type Manager = { readonly manager: EntityManager };
type Verb = (consumer: QueueConsumer, id: number, holder: ClaimHolder, transaction: Manager) => Promise<unknown>;

const ANN = { owner: 'ann' } as const;

/** Each verb that ends an assignment, and the part of the job that shows its outcome. */
const VERBS: Record<string, readonly [verb: Verb, ended: object]> = {
  complete: [
    (consumer, id, holder, { manager }) => consumer.complete(id, { ...holder, result: 'fine', manager }),
    { state: 'completed', result: 'fine', attempt: 1 },
  ],
  'fail with a retry': [
    (consumer, id, holder, { manager }) => consumer.fail(id, { ...holder, error: 'no', retry: '1h', manager }),
    { state: 'scheduled', attempt: 1, error: expect.objectContaining({ message: 'no' }) },
  ],
  'fail without a retry': [
    (consumer, id, holder, { manager }) => consumer.fail(id, { ...holder, error: 'no', retry: false, manager }),
    { state: 'dead', attempt: 1 },
  ],
  release: [
    (consumer, id, holder, { manager }) => consumer.release(id, { ...holder, manager }),
    { state: 'waiting', attempt: 0 },
  ],
  snooze: [
    (consumer, id, holder, { manager }) => consumer.snooze(id, { ...holder, until: '1h', manager }),
    { state: 'scheduled', attempt: 0 },
  ],
  move: [
    (consumer, id, holder, { manager }) => consumer.move(id, { ...holder, stage: 'review', manager }),
    { state: 'waiting', attempt: 0 },
  ],
};

/** A job that is assigned to ann. */
async function withAssignedJob(world: World, settings: Parameters<World['start']>[0] = {}) {
  const engine = await world.start({ autoStart: false, ...settings });
  const { id } = await engine.producer.enqueue('q', 1);
  const [job] = await engine.consumer.claim('q', { ...ANN, lease: '1h' });
  return { ...engine, id, token: job!.token };
}

/** A write of the application. A table of its own would cost each test a new database. */
const INSERT_EFFECT = "INSERT INTO sql_queue_jobs (queue, payload) VALUES ('effects', '1')";

async function effects({ sql }: World): Promise<number> {
  return (await sql("SELECT id FROM sql_queue_jobs WHERE queue = 'effects'")).length;
}

async function rollback(world: World, act: (manager: EntityManager) => Promise<unknown>): Promise<void> {
  const rolledBack = world.dataSource.transaction(async (manager) => {
    await act(manager);
    throw new Error('roll back');
  });
  await expect(rolledBack).rejects.toThrow('roll back');
}

const codeOf = (act: Promise<unknown>) =>
  act.then(
    () => 'done',
    (error: { code: string }) => error.code,
  );

describeEngines("a verb of QueueConsumer in the caller's transaction", (setup) => {
  it.each(Object.entries(VERBS))(
    '%s ends the assignment together with the writes of the caller if it commits',
    async (_name, [verb, ended]) => {
      const world = await setup();
      const { consumer, admin, id } = await withAssignedJob(world);

      await world.dataSource.transaction(async (manager) => {
        await manager.query(INSERT_EFFECT);
        await verb(consumer, id, ANN, { manager });
      });

      expect(await admin.get(id)).toMatchObject(ended);
      expect(await effects(world)).toBe(1);
      expect(await world.sql('SELECT id FROM sql_queue_claims')).toEqual([]);
      expect(await codeOf(consumer.complete(id, ANN))).not.toBe('done');
    },
  );

  it.each(Object.entries(VERBS))(
    '%s leaves the job assigned, with its token and its lease, if it rolls back',
    async (_name, [verb]) => {
      const world = await setup();
      const { consumer, admin, events, id, token } = await withAssignedJob(world);
      const before = [await admin.get(id), await world.sql('SELECT * FROM sql_queue_claims')];

      await rollback(world, async (manager) => {
        await manager.query(INSERT_EFFECT);
        await verb(consumer, id, ANN, { manager });
      });

      expect([await admin.get(id), await world.sql('SELECT * FROM sql_queue_claims')]).toEqual(before);
      expect(await effects(world)).toBe(0);
      expect(events.all).toEqual([]);
      await consumer.extend(id, { token, lease: '2h' });
      await consumer.complete(id, { token });
    },
  );

  it.each(Object.entries(VERBS))(
    '%s rejects with JobNotAssignedError if the claim was taken, and the transaction stays usable',
    async (_name, [verb]) => {
      const world = await setup();
      const { consumer, admin, id, token } = await withAssignedJob(world);
      await consumer.assign(id, 'bob');
      const notAssigned = { code: 'JOB_NOT_ASSIGNED', jobId: id, queue: 'q', claimedBy: 'owner', owner: 'bob' };

      await world.dataSource.transaction(async (manager) => {
        for (const holder of [ANN, { token }]) {
          await expect(verb(consumer, id, holder, { manager })).rejects.toMatchObject(notAssigned);
        }
        await manager.query(INSERT_EFFECT);
      });

      expect(await effects(world)).toBe(1);
      expect(await admin.get(id)).toMatchObject({ state: 'active', owner: 'bob' });
    },
  );

  it.each(Object.entries(VERBS))(
    '%s rejects a manager that is in no open transaction of the DataSource',
    async (_name, [verb]) => {
      const world = await setup();
      const { consumer, admin, id } = await withAssignedJob(world);
      const before = await admin.get(id);
      const other = await world.connect();
      let ended!: EntityManager;
      await world.dataSource.transaction(async (manager) => void (ended = manager));

      const codes = [
        await codeOf(verb(consumer, id, ANN, { manager: ended })),
        await codeOf(verb(consumer, id, ANN, { manager: world.dataSource.manager })),
        await codeOf(other.transaction((manager) => verb(consumer, id, ANN, { manager }))),
        await codeOf(verb(consumer, id, ANN, { manager: null as never })),
        await codeOf(verb(consumer, id, ANN, { manager: {} as never })),
      ];

      expect(codes).toEqual(Array.from({ length: 5 }, () => 'INVALID_OPTIONS'));
      expect(await admin.get(id)).toEqual(before);
    },
  );

  it('snooze with keepOwner snoozes the job of the owner only if it commits', async () => {
    const world = await setup();
    const { consumer, events, id } = await withAssignedJob(world);
    const snooze = (manager: EntityManager) => consumer.snooze(id, { ...ANN, until: '1d', keepOwner: true, manager });

    await rollback(world, snooze);
    const afterRollback = (await consumer.assigned('ann')).jobs;
    await world.dataSource.transaction(snooze);
    await events.until('snoozed');

    expect(afterRollback).toMatchObject([{ id, snoozedUntil: null }]);
    expect((await consumer.assigned('ann')).jobs).toMatchObject([{ id, snoozedUntil: expect.any(Date) }]);
    expect(events.jobs('snoozed')).toEqual([id]);
  });

  it('unassign takes the job from its claim holder only if it commits', async () => {
    const world = await setup();
    const { consumer, admin, id } = await withAssignedJob(world);

    await rollback(world, (manager) => consumer.unassign(id, { manager }));
    const afterRollback = await admin.get(id);
    await world.dataSource.transaction((manager) => consumer.unassign(id, { manager }));

    expect(afterRollback).toMatchObject({ state: 'active', owner: 'ann' });
    expect(await admin.get(id)).toMatchObject({ state: 'waiting', owner: null, attempt: 0 });
    await expect(consumer.unassign(id, { manger: 1 } as never)).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
  });

  it('ends a job only once, also twice in one transaction', async () => {
    const world = await setup();
    const { consumer, admin, events, id, token } = await withAssignedJob(world);

    const code = await world.dataSource.transaction(async (manager) => {
      await consumer.complete(id, { token, manager });
      return codeOf(consumer.fail(id, { token, error: 'no', manager }));
    });
    await events.until('completed');

    expect(code).toBe('JOB_FINISHED');
    expect(await admin.get(id)).toMatchObject({ state: 'completed' });
    expect(events.all).toMatchObject([{ event: 'completed', jobId: id }]);
  });

  it('rejects if the lease has expired and the job was rescued', async () => {
    const world = await setup();
    const { consumer, store, id } = await withAssignedJob(world);
    world.advance(3_600_001);
    await store.rescue(rescueRules());

    const code = await world.dataSource.transaction((manager) => codeOf(consumer.complete(id, { ...ANN, manager })));

    expect(code).toBe('JOB_NOT_ASSIGNED');
  });

  it('rejects if an error of its decision reaches it, and leaves the transaction usable', async () => {
    const world = await setup();
    const { consumer, admin, id } = await withAssignedJob(world);

    const code = await world.dataSource.transaction(async (manager) => {
      await manager.query(INSERT_EFFECT);
      return codeOf(consumer.complete(id, { ...ANN, result: 1n, manager }));
    });

    expect(code).toBe('PAYLOAD_INVALID');
    expect(await effects(world)).toBe(1);
    expect(await admin.get(id)).toMatchObject({ state: 'active', owner: 'ann' });
  });

  it('waits for an asynchronous rule of the queue', async () => {
    const world = await setup();
    const queues = { q: { retry: { attempts: 5, retryIf: async () => false } } };
    const { consumer, admin, id } = await withAssignedJob(world, { queues });

    const state = await world.dataSource.transaction((manager) => consumer.fail(id, { ...ANN, error: 'no', manager }));

    expect(state).toBe('dead');
    expect(await admin.get(id)).toMatchObject({ state: 'dead' });
  });

  it('emits its events and resolves waits only after the commit', async () => {
    const world = await setup();
    const seen: string[] = [];
    const { consumer, producer, events, id } = await withAssignedJob(world);
    const emitted = events.until('completed').then(() => seen.push('completed'));
    const waited = producer.waitFor(id);

    await world.dataSource.transaction(async (manager) => {
      await consumer.complete(id, { ...ANN, result: 7, manager });
      await manager.query('SELECT 1');
      seen.push('before the commit');
    });
    await emitted;

    expect(seen).toEqual(['before the commit', 'completed']);
    expect(await waited).toBe(7);
  });

  it('emits no event if a nested transaction rolls back and the outer one commits', async () => {
    const world = await setup();
    const { consumer, producer, admin, events, id } = await withAssignedJob(world);
    const second = await producer.enqueue('q', 2);
    const [other] = await consumer.claim('q', ANN);

    await world.dataSource.transaction(async (outer) => {
      await outer
        .transaction(async (manager) => {
          await consumer.complete(id, { ...ANN, manager });
          throw new Error('roll back');
        })
        .catch(() => undefined);
      await outer.transaction((manager) => consumer.complete(second.id, { token: other!.token, manager }));
    });
    await events.until('completed');

    expect(await admin.get(id)).toMatchObject({ state: 'active', owner: 'ann' });
    expect(events.jobs('completed')).toEqual([second.id]);
  });

  it('lets the jobs of its flow run only after the commit', async () => {
    const world = await setup();
    const { consumer, producer, admin } = await withAssignedJob(world);
    const flow = await producer.flow((f) => {
      f.add('after', 2, { after: f.add('people', 1) });
    });
    const [job] = await consumer.claim('people', ANN);
    const blocked = flow.jobs[1]!.id;

    await rollback(world, (manager) => consumer.complete(job!.id, { ...ANN, manager }));
    const afterRollback = await admin.get(blocked);
    await world.dataSource.transaction((manager) => consumer.complete(job!.id, { ...ANN, manager }));

    expect(afterRollback).toMatchObject({ state: 'blocked' });
    await eventually(async () => (await admin.get(blocked))?.state === 'waiting');
  });

  it('makes the group of the job claimable after the commit', async () => {
    const world = await setup();
    const { consumer, producer } = await world.start({
      autoStart: false,
      queues: { q: { groups: { concurrency: 1 } } },
    });
    await producer.enqueueMany('q', [
      { payload: 1, options: { group: 'a' } },
      { payload: 2, options: { group: 'a' } },
    ]);
    const [first] = await consumer.claim('q', ANN);
    const atLimit = await consumer.claim('q', ANN);

    await world.dataSource.transaction((manager) => consumer.complete(first!.id, { ...ANN, manager }));

    const stateOf = async () => (await world.sql<{ state: string }>('SELECT state FROM sql_queue_groups'))[0]!.state;
    await eventually(async () => (await stateOf()) === 'ready');
    expect(atLimit).toEqual([]);
    expect(await consumer.claim('q', ANN)).toMatchObject([{ payload: 2 }]);
  });

  it('stores the dead letter in the transaction', async () => {
    const world = await setup();
    const { consumer, admin, id } = await withAssignedJob(world, { queues: { q: { deadLetter: 'dead' } } });
    const fail = (manager: EntityManager) => consumer.fail(id, { ...ANN, error: 'no', retry: false, manager });

    await rollback(world, fail);
    const afterRollback = await admin.counts('dead');
    await world.dataSource.transaction(fail);

    expect(afterRollback).toMatchObject({ waiting: 0 });
    expect(await admin.counts('dead')).toMatchObject({ waiting: 1 });
  });

  it.each(['ROLLBACK', 'COMMIT'])('ends nothing after a %s that TypeORM has not noticed', async (end) => {
    const world = await setup();
    const { consumer, admin, id } = await withAssignedJob(world);
    const runner = world.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query(end);

    await expect(consumer.complete(id, { ...ANN, manager: runner })).rejects.toMatchObject({
      ...{ code: 'TRANSACTION_LOST', jobId: id, queue: 'q' },
    });

    await runner.query('BEGIN');
    await runner.rollbackTransaction();
    await runner.release();
    expect(await admin.get(id)).toMatchObject({ state: 'active', owner: 'ann' });
  });

  it('is not possible for claims, assignments and leases', async () => {
    const world = await setup();
    const { consumer, admin, id } = await withAssignedJob(world);
    const before = await admin.get(id);

    await world.dataSource.transaction(async (manager) => {
      const refused = { code: 'INVALID_OPTIONS', message: expect.stringContaining('unknown option "manager"') };
      await expect(consumer.claim('q', { ...ANN, manager } as never)).rejects.toMatchObject(refused);
      await expect(consumer.assign(id, 'bob', { manager } as never)).rejects.toMatchObject(refused);
      await expect(consumer.extend(id, { ...ANN, lease: '2h', manager } as never)).rejects.toMatchObject(refused);
    });

    expect(await admin.get(id)).toEqual(before);
  });
});

describeEngines(
  'a job whose assignment has ended in an open transaction of the caller',
  (setup) => {
    it('is not rescued, although its lease expires, and ends with the commit', async () => {
      const world = await setup();
      const { consumer, admin, store, id } = await withAssignedJob(world);

      const rescued = await world.dataSource.transaction('READ COMMITTED', async (manager) => {
        await consumer.complete(id, { ...ANN, manager });
        world.advance(3_600_001);
        return store.rescue(rescueRules());
      });

      expect(rescued).toEqual([]);
      expect(await admin.get(id)).toMatchObject({ state: 'completed', attempt: 1 });
    });

    it('stays assigned until its lease expires if the process dies before the commit', async () => {
      const world = await setup();
      const { consumer, admin, store, id } = await withAssignedJob(world);
      const runner = world.dataSource.createQueryRunner();
      await runner.startTransaction('READ COMMITTED');
      await runner.query(INSERT_EFFECT);
      await consumer.complete(id, { ...ANN, manager: runner });

      const [{ connection }] = (await runner.query('SELECT CONNECTION_ID() AS connection')) as [{ connection: number }];
      await world.sql(`KILL ${Number(connection)}`);
      await eventually(async () => (await codeOf(consumer.extend(id, { ...ANN, lease: '1h' }))) === 'done');
      const rescuedEarly = await store.rescue(rescueRules());
      world.advance(3_600_001);
      const rescued = await store.rescue(rescueRules());
      await runner.release().catch(() => undefined);

      expect(rescuedEarly).toEqual([]);
      expect(rescued.map(({ job }) => job.id)).toEqual([id]);
      expect(await effects(world)).toBe(0);
      expect(await admin.get(id)).toMatchObject({ state: 'waiting' });
    });
  },
  ['mysql', 'mariadb'],
);

// MariaDB from 11.6 on rejects a lock on a row that is newer than the snapshot.
describeEngines(
  'an assignment that is newer than the snapshot of the transaction',
  (setup) => {
    it('is ended, although the transaction does not see it', async () => {
      const world = await setup();
      const { consumer, producer, admin } = await withAssignedJob(world);

      const id = await world.dataSource.transaction('REPEATABLE READ', async (manager) => {
        await manager.query('SELECT id FROM sql_queue_jobs');
        const job = await producer.enqueue('q', 2);
        await consumer.claim('q', ANN);
        await consumer.complete(job.id, { ...ANN, manager });
        return job.id;
      });

      expect(await admin.get(id)).toMatchObject({ state: 'completed' });
    });
  },
  ['mysql'],
);
