import type { EntityManager } from 'typeorm';
import { interceptingDriver, type StatementListener } from '../support/intercepting-driver.js';
import { completionOf } from '../support/jobs.js';
import { describeStores, describeStoresOf, type World } from '../support/stores.js';

type Work = (manager: EntityManager) => Promise<unknown>;

const INSERT = "INSERT INTO notes (id, text) VALUES (1, 'in the work')";

async function setupNotes(world: World) {
  await world.sql('CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text VARCHAR(50) NOT NULL)');
  await world.sql('DELETE FROM notes');
  const [id] = await world.put({});
  const taken = await world.claim();
  const job = taken.jobs[0]!;
  return {
    id: id!,
    complete: (work: Work) =>
      world.jobs.completeWith(async (manager) => {
        await work(manager);
        return { value: 'done', completion: completionOf(taken, job) };
      }),
    notes: async () =>
      (await world.sql<{ text: string }>('SELECT text FROM notes ORDER BY id')).map(({ text }) => text),
  };
}

const begin = ({ store }: World) => (store.server.name === 'sqlite' ? 'BEGIN' : 'START TRANSACTION');

// Each function ends the transaction, and some start another one.
const endings: [title: string, end: (manager: EntityManager, world: World) => Promise<unknown>][] = [
  ['a ROLLBACK', (manager) => manager.query('ROLLBACK')],
  ['a COMMIT', (manager) => manager.query('COMMIT')],
  [
    'a ROLLBACK and a new transaction',
    async (manager, world) => {
      await manager.query('ROLLBACK');
      await manager.query(begin(world));
    },
  ],
  [
    'a COMMIT and a new transaction',
    async (manager, world) => {
      await manager.query('COMMIT');
      await manager.query(begin(world));
    },
  ],
  ['rollbackTransaction()', (manager) => manager.queryRunner!.rollbackTransaction()],
  ['commitTransaction()', (manager) => manager.queryRunner!.commitTransaction()],
  [
    'commitTransaction() and startTransaction()',
    async ({ queryRunner }) => {
      await queryRunner!.commitTransaction();
      await queryRunner!.startTransaction();
    },
  ],
];

describeStores('a transaction around the completion of a job', (setup) => {
  it.each(endings)('completes nothing and rejects with TransactionLostError after %s', async (_title, end) => {
    const world = await setup();
    const { id, complete } = await setupNotes(world);

    const completing = complete((manager) => end(manager, world));

    await expect(completing).rejects.toMatchObject({
      ...{ name: 'TransactionLostError', code: 'TRANSACTION_LOST', jobId: id, queue: 'q' },
      message: expect.stringMatching(/expected .* got .*ROLLBACK.*DDL.*deadlock.*cannot be undone/s) as string,
    });
    expect(await world.admin.get(id)).toMatchObject({ state: 'active' });
  });

  it.each(endings)('leaves the connection without a transaction after %s', async (_title, end) => {
    const world = await setup();
    const { complete, notes } = await setupNotes(world);
    const completing = complete(async (manager) => {
      await end(manager, world);
      if (manager.queryRunner?.isTransactionActive) await manager.query(begin(world)).catch(() => undefined);
      await manager.query(INSERT);
    });
    await expect(completing).rejects.toMatchObject({ code: 'TRANSACTION_LOST' });
    await world.sql('DELETE FROM notes');

    await world.dataSource.transaction((manager) => manager.query(INSERT));
    const another = world.store.inMemory ? world.dataSource : await world.connect();

    expect(await notes()).toEqual(['in the work']);
    expect(await another.query('SELECT text FROM notes')).toEqual([{ text: 'in the work' }]);
    expect(world.dataSource.createQueryRunner().isTransactionActive).toBe(false);
  });

  it('completes the job after nested transactions, committed or rolled back', async () => {
    const world = await setup();
    const { id, complete, notes } = await setupNotes(world);

    await complete(async (manager) => {
      await manager.transaction((nested) => nested.query(INSERT));
      await manager
        .transaction(async (nested) => {
          await nested.query('DELETE FROM notes');
          throw new Error('roll back');
        })
        .catch(() => undefined);
      await manager.query('SAVEPOINT mine');
      await manager.query('DELETE FROM notes');
      await manager.query('ROLLBACK TO SAVEPOINT mine');
    });

    expect(await notes()).toEqual(['in the work']);
    expect(await world.admin.get(id)).toMatchObject({ state: 'completed' });
  });

  it('completes the job after a failed statement', async () => {
    const world = await setup();
    const { id, complete, notes } = await setupNotes(world);

    await complete(async (manager) => {
      await manager.query(INSERT);
      await expect(manager.query(INSERT)).rejects.toThrow();
    });

    expect(await notes()).toEqual(['in the work']);
    expect(await world.admin.get(id)).toMatchObject({ state: 'completed' });
  });
});

describeStoresOf(['mysql', 'mariadb'], 'a transaction of a handler on a server', (setup) => {
  it('completes nothing if the work leaves a nested transaction open', async () => {
    const world = await setup();
    const { id, complete, notes } = await setupNotes(world);

    const completing = complete(async (manager) => {
      await manager.queryRunner!.startTransaction();
      await manager.query(INSERT);
    });

    await expect(completing).rejects.toMatchObject({ code: 'TRANSACTION_LOST' });
    expect(await notes()).toEqual([]);
    expect(await world.admin.get(id)).toMatchObject({ state: 'active' });
  });

  it('completes nothing after an implicit commit for DDL', async () => {
    const world = await setup();
    const { id, complete, notes } = await setupNotes(world);

    const completing = complete(async (manager) => {
      await manager.query(INSERT);
      await manager.query('CREATE TABLE IF NOT EXISTS more_notes (id INTEGER PRIMARY KEY)');
    });

    await expect(completing).rejects.toMatchObject({ code: 'TRANSACTION_LOST' });
    expect(await notes()).toEqual(['in the work']);
    expect(await world.admin.get(id)).toMatchObject({ state: 'active' });
  });

  it.each([
    ['', (manager: EntityManager, sql: string) => manager.query(sql)],
    [' in a nested transaction', (manager: EntityManager, sql: string) => manager.transaction((m) => m.query(sql))],
  ])('completes nothing after a deadlock%s whose error the work catches', async (_where, send) => {
    const world = await setup();
    const { id, complete, notes } = await setupNotes(world);
    await world.sql("INSERT INTO notes (id, text) VALUES (2, 'two'), (3, 'three')");
    const other = (await world.connect()).createQueryRunner();
    await other.startTransaction();
    // On a deadlock, the server rolls back the transaction with fewer writes.
    for (let row = 10; row < 60; row++) await other.query(`INSERT INTO notes (id, text) VALUES (${row}, 'many')`);
    await other.query("UPDATE notes SET text = 'other' WHERE id = 3");
    const swallowed: unknown[] = [];

    const completing = complete(async (manager) => {
      await manager.query(INSERT);
      await manager.query("UPDATE notes SET text = 'work' WHERE id = 2");
      const waiting = send(manager, "UPDATE notes SET text = 'work' WHERE id = 3").catch((error: unknown) =>
        swallowed.push(error),
      );
      await other.query("UPDATE notes SET text = 'other' WHERE id = 2");
      await waiting;
    });

    await expect(completing).rejects.toMatchObject({ code: 'TRANSACTION_LOST' });
    expect(swallowed).toMatchObject([{ errno: 1213 }]);
    await other.rollbackTransaction();
    await other.release();
    expect(await notes()).toEqual(['two', 'three']);
    expect(await world.admin.get(id)).toMatchObject({ state: 'active' });
  });
});

describeStoresOf(['sqlite'], 'a transaction of the application that overlaps the completion of a job', (setup) => {
  it("does not count as the end of the job's transaction if it starts first and ends first", async () => {
    const world = await setup();
    const { id, complete, notes } = await setupNotes(world);
    let completing: Promise<unknown> | undefined;
    let commit!: () => void;
    const committed = new Promise<void>((resolve) => (commit = resolve));

    await world.dataSource.transaction(async (manager) => {
      await manager.query(INSERT);
      await new Promise<void>((begun) => {
        completing = complete(() => {
          begun();
          return committed;
        });
      });
    });
    commit();
    await completing;

    expect(await notes()).toEqual(['in the work']);
    expect(await world.admin.get(id)).toMatchObject({ state: 'completed' });
  });

  it("does not count as the end of the job's transaction if it starts last and ends last", async () => {
    const world = await setup();
    const { id, complete, notes } = await setupNotes(world);
    let commit!: () => void;
    const committed = new Promise<void>((resolve) => (commit = resolve));
    let application: Promise<unknown> | undefined;

    await complete(async () => {
      await new Promise<void>((begun) => {
        application = world.dataSource.transaction(async (manager) => {
          await manager.query(INSERT);
          begun();
          await committed;
        });
      });
    });
    commit();
    await application;

    expect(await notes()).toEqual(['in the work']);
    expect(await world.admin.get(id)).toMatchObject({ state: 'completed' });
  });
});

describeStoresOf(['mysql', 'mariadb'], 'a hand-off', (setup) => {
  it('resolves if the server commits it after the connection was lost, while the store repeats it', async () => {
    const world = await setup();
    await world.put({});
    const { jobs, id: from } = await world.claim();
    const [job] = jobs;
    const to = from + 1;
    const server = world.dataSource.createQueryRunner();
    let committing: Promise<void> | undefined;
    let [isArmed, isLost] = [false, false];
    // The transaction of the first call goes on in the server, on a connection of the test.
    const loseFirstCommit: StatementListener = async (sql, run) => {
      if (isLost && sql.includes('FOR UPDATE')) committing ??= server.commitTransaction();
      if (!isArmed || isLost || sql !== 'COMMIT') return;
      isLost = true;
      await run('ROLLBACK');
      await server.startTransaction('READ COMMITTED');
      await server.query('SELECT id FROM sql_queue_claims WHERE id = ? FOR UPDATE', [from]);
      await server.query(
        `INSERT INTO sql_queue_claims (id, worker_id, queue, job_ids, start_limit, lease_ms, lease_until, claimed_at, owner)
         SELECT ?, worker_id, queue, job_ids, 1, lease_ms, lease_until, claimed_at, '' FROM sql_queue_claims WHERE id = ?`,
        [to, from],
      );
      await server.query('UPDATE sql_queue_jobs SET claim_id = ? WHERE id = ?', [to, job!.id]);
      throw Object.assign(new Error('Connection lost'), { code: 'PROTOCOL_CONNECTION_LOST', fatal: true });
    };
    const dataSource = await world.connect({ driver: interceptingDriver(loseFirstCommit) });
    const store = await world.open({ dataSource });
    isArmed = true;

    const isOurs = await store.jobs.handOff({ job: job!, workerId: 'worker-1', from, to, leaseMs: 60_000 });
    await committing;
    await server.release();

    expect(isOurs).toBe(true);
    expect(await world.sql(`SELECT id FROM sql_queue_claims WHERE owner = ''`)).toHaveLength(1);
  });
});
