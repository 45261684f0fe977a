import type { EntityManager } from 'typeorm';
import { gate } from '../support/engines.js';
import { interceptingDriver, type StatementListener } from '../support/intercepting-driver.js';
import { newJob } from '../support/jobs.js';
import { keyedJob } from '../support/keyed-job.js';
import { describeStoresOf, type World } from '../support/stores.js';

/** Two calls, of which the second one waits for the first one. */
const callsOf = ({ jobs }: Pick<World, 'jobs'>, manager: EntityManager) => [
  jobs.enqueueKeyedInTransaction([keyedJob({ key: 'k' })], manager),
  jobs.enqueue([newJob({})], manager),
];

const LOST = { status: 'rejected', reason: { name: 'TransactionLostError', code: 'TRANSACTION_LOST' } };

describeStoresOf(['mysql', 'mariadb'], 'a call that waits when its transaction ends', (setup) => {
  /** A store that reads keys when `release` is called. */
  async function setupWait(world: World) {
    const [reached, released] = [gate(), gate()];
    let isOpen = false;
    const holdKeys: StatementListener = async (sql) => {
      if (!isOpen || !sql.includes('FROM sql_queue_keys')) return;
      reached.open();
      await released.opened;
    };
    const dataSource = await world.connect({ driver: interceptingDriver(holdKeys) });
    const { jobs } = await world.open({ dataSource });
    isOpen = true;
    return { jobs, dataSource, waits: reached.opened, release: released.open };
  }

  it.each(['rollbackTransaction', 'commitTransaction'] as const)(
    'writes nothing into the next transaction of its query runner after %s()',
    async (end) => {
      const world = await setup();
      const { jobs, dataSource, waits, release } = await setupWait(world);
      const runner = dataSource.createQueryRunner();
      await runner.startTransaction();
      const calls = callsOf({ jobs }, runner.manager);
      await waits;

      await runner[end]();
      await runner.startTransaction();
      release();
      const answers = await Promise.allSettled(calls);
      const [id] = await jobs.enqueue([newJob({})], runner.manager);
      await runner.commitTransaction();
      await runner.release();

      expect(answers).toMatchObject([LOST, LOST]);
      expect((await world.sql<{ id: number }>('SELECT id FROM sql_queue_jobs')).map((job) => Number(job.id))).toEqual([
        id,
      ]);
    },
  );

  it('writes nothing into the outer transaction if its nested one is rolled back', async () => {
    const world = await setup();
    const { jobs, dataSource, waits, release } = await setupWait(world);

    const answers = await dataSource.transaction(async (outer) => {
      const outerCalls = callsOf({ jobs }, outer);
      const released = outer.transaction(async (nested) => {
        outerCalls.push(...callsOf({ jobs }, nested));
        await waits;
      });
      await released;
      const nestedCalls: Promise<unknown>[] = [];
      const rolledBack = outer.transaction((nested) => {
        nestedCalls.push(...callsOf({ jobs }, nested));
        return Promise.reject(new Error('roll back'));
      });
      await rolledBack.catch(() => undefined);
      release();
      return Promise.all([outerCalls, nestedCalls].map((calls) => Promise.allSettled(calls)));
    });

    const written = { status: 'fulfilled' };
    expect(answers).toMatchObject([
      [written, written, written, written],
      [LOST, LOST],
    ]);
    expect(await world.sql('SELECT id FROM sql_queue_jobs')).toHaveLength(3);
  });
});

describeStoresOf(['sqlite'], 'a call that waits when its transaction ends', (setup) => {
  it('writes nothing into the next transaction, which has the same query runner', async () => {
    const world = await setup();
    const calls: Promise<unknown>[] = [];
    const rolledBack = world.dataSource.transaction((manager) => {
      // Needs more turns than the rollback and the start of the next transaction.
      calls.push(
        world.jobs.enqueue(
          Array.from({ length: 20_000 }, () => newJob({})),
          manager,
        ),
      );
      calls.push(...callsOf(world, manager));
      return Promise.reject(new Error('roll back'));
    });
    await rolledBack.catch(() => undefined);

    const answers = await world.dataSource.transaction(() => Promise.allSettled(calls));

    expect(answers).toMatchObject([LOST, LOST, LOST]);
    expect(await world.sql('SELECT COUNT(*) AS count FROM sql_queue_jobs')).toEqual([{ count: 0 }]);
  });
});
