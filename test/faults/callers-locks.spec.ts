import type { EntityManager } from 'typeorm';
import type { EnqueueOptions } from '../../lib/job/enqueue-options.js';
import type { OpenStore } from '../../lib/store/open-store.js';
import { gate } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { claimOf, endOf, newJob, type Claim } from '../support/jobs.js';
import { keyed } from '../support/keyed.js';
import { rewritingDriver } from '../support/rewriting-driver.js';
import { describeStoresOf, type World } from '../support/stores.js';

const CALLERS = 20;
const NEW_KEYS = 8;

// The library's statements wait for locks longer than any test lasts: a statement that passes has waited for no other one.
const driver = rewritingDriver((sql) =>
  sql.replace('innodb_lock_wait_timeout = ?', 'innodb_lock_wait_timeout = ? + 600'),
);

describeStoresOf(['mysql', 'mariadb'], 'a lock of an open transaction of the application', (setup) => {
  it.each(['REPEATABLE READ', 'READ COMMITTED'] as const)(
    'on a new key leaves the connections of heartbeats, completions and claims free, whoever waits for the key (%s)',
    async (isolation) => {
      const { world, store, held, transaction } = await prepare();
      const [begun, over] = [gate(), gate()];
      let open = 0;
      const callers = Array.from({ length: CALLERS }, () =>
        transaction(isolation, async (manager) => {
          if (++open === CALLERS) begun.open();
          await begun.opened;
          const outcome = await enqueueWithin(store, manager, { key: 'k' });
          await over.opened;
          return outcome;
        }),
      );
      await untilWaiting(world, /FROM sql_queue_keys.*FOR UPDATE/s, CALLERS - 1);

      await work(store, held);
      over.open();

      expect((await Promise.all(callers)).filter((outcome) => outcome === 'created')).toHaveLength(1);
      expect(await world.sql('SELECT id FROM sql_queue_jobs WHERE name = ?', ['keyed'])).toHaveLength(1);
    },
  );

  it('on rows of keys that other callers are about to create leaves those connections free', async () => {
    const { world, store, held, transaction } = await prepare();
    const keys = Array.from({ length: NEW_KEYS }, (_, n) => ({ key: `${n}` }));
    const callers = await transaction('READ COMMITTED', async (manager) => {
      // As another process, between its first look at the keys and their INSERT.
      for (const one of keys) {
        const { queue, key } = keyed(one);
        const row = [queue, key!.hash, 4e12];
        await manager.query('INSERT INTO sql_queue_keys (queue, key_hash, kept_until) VALUES (?, ?, ?)', row);
      }
      const waiting = keys.map((one) => transaction('READ COMMITTED', (own) => enqueueWithin(store, own, one)));
      await untilWaiting(world, /INTO sql_queue_keys/, 1);
      await work(store, held);
      return waiting;
    });

    expect(await Promise.all(callers)).toEqual(keys.map(() => 'created'));
  });

  it('on jobs leaves those connections free, whoever waits to cancel or remove those', async () => {
    const { world, store, held, transaction } = await prepare();
    const ids = await world.put({ queue: 'locked' }, { queue: 'locked' }, { queue: 'locked' }, { queue: 'locked' });
    const verbs = await transaction('READ COMMITTED', async (manager) => {
      for (const id of ids) await manager.query('SELECT id FROM sql_queue_jobs WHERE id = ? FOR UPDATE', [id]);
      const waiting = ids.flatMap((id) => [store.admin.cancel(id, () => false), store.admin.remove([id])]);
      await untilWaiting(world, /FROM sql_queue_jobs.*FOR UPDATE/s, 5);
      await work(store, held);
      return waiting;
    });

    await Promise.all(verbs);
    expect(await world.sql('SELECT id FROM sql_queue_jobs WHERE queue = ?', ['locked'])).toEqual([]);
  });

  it('behind the newest job leaves those connections free, whoever waits to enqueue', async () => {
    const { world, store, held, transaction } = await prepare();
    const enqueues = await transaction('REPEATABLE READ', async (manager) => {
      await manager.query('SELECT id FROM sql_queue_jobs WHERE id > 4000000000 FOR UPDATE');
      const waiting = Array.from({ length: 8 }, () => store.jobs.enqueue([newJob({ queue: 'other' })]));
      await untilWaiting(world, /INSERT INTO sql_queue_jobs/, 5);
      await work(store, held);
      return waiting;
    });

    expect(await Promise.all(enqueues)).toHaveLength(8);
  });

  /** A store with a job in the hands of a worker, another one that waits, and more connections than callers. */
  async function prepare() {
    const world = await setup();
    const dataSource = await world.connect({ driver, poolSize: CALLERS + NEW_KEYS });
    const store = await world.open({ dataSource });
    await world.put({}, {});
    const request = claimOf();
    const held: Claim = { id: request.claimId, workerId: request.workerId, jobs: await store.jobs.claim(request) };
    return { world, store, held, transaction: dataSource.transaction.bind(dataSource) };
  }
});

/** All that a worker does, in the same process. */
async function work({ jobs }: OpenStore, held: Claim): Promise<void> {
  expect(await jobs.extend([held.id])).toMatchObject([{ claimId: held.id }]);
  await jobs.survey(['q']);
  const { lost, jobs: next } = await jobs.settleAndClaim(endOf(held), claimOf());
  expect({ lost: lost.size, next: next.length }).toEqual({ lost: 0, next: 1 });
}

async function enqueueWithin(store: OpenStore, manager: EntityManager, options: EnqueueOptions): Promise<string> {
  const placed = await store.jobs.enqueueKeyedWithin([keyed({ ...options, name: 'keyed' })], manager);
  return placed![0]!.outcome;
}

async function untilWaiting({ sql }: World, statement: RegExp, count: number): Promise<void> {
  await eventually(async () => {
    const rows = await sql<{ info: string | null }>(
      'SELECT info FROM information_schema.processlist WHERE db = DATABASE()',
    );
    return rows.filter(({ info }) => statement.test(info ?? '')).length >= count;
  });
}
