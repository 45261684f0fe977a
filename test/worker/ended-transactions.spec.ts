import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import { describeEngines, type World } from '../support/engines.js';
import type { Engine } from '../support/engine.js';

interface Given extends Engine {
  readonly scheduledId: number;
  readonly deadId: number;
  readonly assignedId: number;
}

type Verb = (given: Given, manager: EntityManager) => Promise<unknown>;

const ANN = { owner: 'ann' } as const;
const HOURLY = { queue: 'q', every: '1h' } as const;

/** Every verb that takes the manager of an open transaction. */
const VERBS: Record<string, Verb> = {
  enqueue: ({ producer }, manager) => producer.enqueue('q', 1, { manager }),
  'enqueue with a free key': ({ producer }, manager) => producer.enqueue('q', 1, { manager, key: 'free' }),
  'enqueue that replaces': ({ producer }, manager) =>
    producer.enqueue('q', 1, { manager, key: 'owned', onConflict: 'replace' }),
  enqueueMany: ({ producer }, manager) => producer.enqueueMany('q', [{ payload: 1 }, { payload: 2 }], { manager }),
  publish: ({ producer }, manager) => producer.publish('topic', 1, { manager }),
  flow: ({ producer }, manager) => producer.flow((flow) => void flow.add('q', 1), { manager }),
  signal: ({ producer }, manager) => producer.signal('paid', 'order', 1, { manager }),
  withManager: ({ producer }, manager) => producer.withManager(manager).enqueue('q', 1),
  'schedules.upsert': ({ schedules }, manager) => schedules.upsert('new', HOURLY, { manager }),
  'schedules.remove': ({ schedules }, manager) => schedules.remove('hourly', { manager }),
  'schedules.pause': ({ schedules }, manager) => schedules.pause('hourly', { manager }),
  'schedules.resume': ({ schedules }, manager) => schedules.resume('hourly', { manager }),
  'schedules.runNow': ({ schedules }, manager) => schedules.runNow('hourly', { manager }),
  'admin.cancel': ({ admin, scheduledId }, manager) => admin.cancel(scheduledId, { manager }),
  'admin.cancel of an assigned job': ({ admin, assignedId }, manager) => admin.cancel([assignedId], { manager }),
  'admin.retry': ({ admin, deadId }, manager) => admin.retry(deadId, { manager }),
  'admin.retry to another queue': ({ admin, deadId }, manager) =>
    admin.retry([deadId], { to: 'r', create: true, manager }),
  'admin.promote': ({ admin, scheduledId }, manager) => admin.promote(scheduledId, { manager }),
  'admin.release': ({ admin, assignedId }, manager) => admin.release(assignedId, { manager }),
  'admin.reschedule': ({ admin, scheduledId }, manager) => admin.reschedule(scheduledId, '2h', { manager }),
  'admin.reprioritise': ({ admin, scheduledId }, manager) => admin.reprioritise(scheduledId, 7, { manager }),
  'admin.update': ({ admin, scheduledId }, manager) => admin.update(scheduledId, { payload: 2 }, { manager }),
  'admin.duplicate': ({ admin, deadId }, manager) => admin.duplicate(deadId, { manager }),
  'admin.remove': ({ admin, deadId }, manager) => admin.remove(deadId, { manager }),
  'admin.pause': ({ admin }, manager) => admin.pause('q', { manager }),
  'admin.resume': ({ admin }, manager) => admin.resume('q', { manager }),
  'admin.configure': ({ admin }, manager) => admin.configure('q', { concurrency: 3 }, { manager }),
  'admin.subscribe': ({ admin }, manager) => admin.subscribe('q', { topic: 'other' }, { manager }),
  'admin.unsubscribe': ({ admin }, manager) => admin.unsubscribe('q', 'topic', { manager }),
  'consumer.complete': ({ consumer, assignedId }, manager) => consumer.complete(assignedId, { ...ANN, manager }),
  'consumer.fail': ({ consumer, assignedId }, manager) => consumer.fail(assignedId, { ...ANN, error: 'no', manager }),
  'consumer.release': ({ consumer, assignedId }, manager) => consumer.release(assignedId, { ...ANN, manager }),
  'consumer.snooze': ({ consumer, assignedId }, manager) =>
    consumer.snooze(assignedId, { ...ANN, until: '1h', manager }),
  'consumer.snooze with its owner': ({ consumer, assignedId }, manager) =>
    consumer.snooze(assignedId, { ...ANN, until: '1h', keepOwner: true, manager }),
  'consumer.unassign': ({ consumer, assignedId }, manager) => consumer.unassign(assignedId, { manager }),
  'consumer.move': ({ consumer, assignedId }, manager) => consumer.move(assignedId, { ...ANN, stage: 's', manager }),
};

const CONTENT = ['jobs', 'history', 'claims', 'queues', 'subscriptions', 'schedules', 'signals', 'stages', 'audit'];

async function setUpJobs(world: World): Promise<Given> {
  const engine = await world.start({ autoStart: false });
  const { producer, admin, consumer, schedules } = engine;
  const { id: deadId } = await producer.enqueue('q', 'dead');
  await consumer.claim('q', ANN);
  await consumer.fail(deadId, { ...ANN, error: 'no', retry: false });
  const { id: assignedId } = await producer.enqueue('q', 'assigned');
  await consumer.claim('q', { ...ANN, lease: '1h' });
  const { id: scheduledId } = await producer.enqueue('q', 'scheduled', { delay: '1h', key: 'owned' });
  await admin.subscribe('q', { topic: 'topic' });
  await schedules.upsert('hourly', HOURLY);
  return { ...engine, scheduledId, deadId, assignedId };
}

/** The rows that the verbs write. */
async function contentOf({ sql }: World): Promise<unknown> {
  const rows: Record<string, unknown> = {};
  for (const table of CONTENT) rows[table] = await sql(`SELECT * FROM sql_queue_${table} ORDER BY 1, 2`);
  return rows;
}

/** Calls the verb in a transaction that `end` has ended, and closes the transaction that TypeORM believes in. */
async function callAfter(
  dataSource: DataSource,
  end: (runner: QueryRunner) => Promise<unknown>,
  call: (manager: EntityManager) => Promise<unknown>,
): Promise<unknown> {
  const runner = dataSource.createQueryRunner();
  await runner.startTransaction();
  await end(runner);
  const answer = await call(runner.manager).then(
    () => 'resolved',
    (error: unknown) => error,
  );
  // SQLite rejects a ROLLBACK outside of a transaction.
  await runner.query('BEGIN');
  await runner.rollbackTransaction();
  await runner.release();
  return answer;
}

const ENDED = { name: 'TransactionLostError', code: 'TRANSACTION_LOST' };

async function expectRejections(world: World, end: (runner: QueryRunner) => Promise<unknown>): Promise<void> {
  const given = await setUpJobs(world);
  const before = await contentOf(world);

  const answers: Record<string, unknown> = {};
  for (const [name, verb] of Object.entries(VERBS))
    answers[name] = await callAfter(world.dataSource, end, (manager) => verb(given, manager));

  for (const [name, answer] of Object.entries(answers)) expect.soft(answer, name).toMatchObject(ENDED);
  expect(await contentOf(world)).toEqual(before);
}

describeEngines('each verb with the manager of a transaction that TypeORM believes to be open', (setup) => {
  it.each(['COMMIT', 'ROLLBACK'])('writes nothing and rejects with TransactionLostError after a %s', async (end) => {
    await expectRejections(await setup(), (runner) => runner.query(end));
  });

  it('joins the transaction after a failed statement, and after a nested transaction that was rolled back', async () => {
    const world = await setup();
    const { producer, admin, scheduledId } = await setUpJobs(world);
    const { waiting } = await admin.counts();
    const duplicate = `INSERT INTO sql_queue_jobs (id, queue, payload) VALUES (${scheduledId}, 'q', '1')`;
    const act = async (manager: EntityManager) => {
      await expect(manager.query(duplicate)).rejects.toThrow();
      await producer.enqueue('q', 1, { manager });
      const nested = manager.transaction(() => Promise.reject(new Error('roll back')));
      await expect(nested).rejects.toThrow('roll back');
      await producer.enqueue('q', 2, { manager });
    };

    await world.dataSource.transaction(act);
    const rolledBack = world.dataSource.transaction(async (manager) => {
      await act(manager);
      throw new Error('roll back');
    });

    await expect(rolledBack).rejects.toThrow('roll back');
    expect(await admin.counts()).toMatchObject({ waiting: waiting + 2 });
  });
});

describeEngines(
  'each verb with the manager of a transaction on a server',
  (setup) => {
    it.each(['DROP TABLE IF EXISTS never_created', 'ANALYZE TABLE sql_queue_jobs'])(
      'writes nothing and rejects with TransactionLostError after %s, which commits',
      async (sql) => {
        await expectRejections(await setup(), (runner) => runner.query(sql));
      },
    );

    it('writes nothing and rejects with TransactionLostError after a deadlock whose error the caller catches', async () => {
      const world = await setup();
      await world.sql('CREATE TABLE accounts (id INT PRIMARY KEY, n INT)');
      await world.sql('INSERT INTO accounts VALUES (1, 0), (2, 0)');
      const other = (await world.connect()).createQueryRunner();

      await expectRejections(world, async (runner) => {
        await other.startTransaction();
        // On a deadlock, the server rolls back the transaction with fewer writes.
        for (let id = 10; id < 60; id++) await other.query(`INSERT INTO accounts VALUES (${id}, 0)`);
        await other.query('UPDATE accounts SET n = n + 1 WHERE id = 2');
        await runner.query('UPDATE accounts SET n = n + 1 WHERE id = 1');
        const waiting = runner.query('UPDATE accounts SET n = n + 1 WHERE id = 2').catch((error: unknown) => error);
        await other.query('UPDATE accounts SET n = n + 1 WHERE id = 1');
        expect(await waiting).toMatchObject({ errno: 1213 });
        await other.rollbackTransaction();
      });
      await other.release();
    });

    it('writes nothing if the transaction ends while the call is under way', async () => {
      const world = await setup();
      const { producer, admin } = await setUpJobs(world);
      const before = await admin.counts();
      let ending!: Promise<unknown>;

      const answer = await callAfter(
        world.dataSource,
        async (runner) => void (ending = runner.query('COMMIT')),
        (manager) => producer.enqueue('q', 1, { manager }),
      );

      await ending;
      expect(answer).toMatchObject(ENDED);
      expect(await admin.counts()).toEqual(before);
    });

    it('sends no statement of its own while the answers of the server show an open transaction', async () => {
      const world = await setup();
      const { producer, admin, scheduledId } = await setUpJobs(world);
      const sent: string[] = [];
      const listener = { beforeQuery: ({ query }: { query: string }) => void sent.push(query.trim().split(/\s+/)[0]!) };
      // The first calls with a manager begin to follow the answers.
      await world.dataSource.transaction(async (manager) => {
        await producer.enqueue('q', 0, { manager });
        await admin.reprioritise(scheduledId, 2, { manager });
      });
      world.dataSource.subscribers.push(listener as never);

      await world.dataSource.transaction(async (manager) => {
        await producer.enqueue('q', 1, { manager });
        await manager.query('SELECT id FROM sql_queue_jobs');
        await producer.enqueueMany('q', [{ payload: 2 }], { manager });
        await admin.reprioritise(scheduledId, 3, { manager });
      });

      expect(sent.slice(0, 4)).toEqual(['START', 'INSERT', 'SELECT', 'INSERT']);
      expect(sent).not.toContain('DO');
    });
  },
  ['mysql', 'mariadb'],
);
