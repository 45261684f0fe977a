import type { EntityManager } from 'typeorm';
import type { EnqueueOptions } from '../../lib/job/enqueue-options.js';
import { DEFAULT_GROUP_RULES, type GroupRules } from '../../lib/job/groups/group-options.js';
import type { ClaimRequest } from '../../lib/store/rows/claim.js';
import type { OpenStore } from '../../lib/store/open-store.js';
import { gate } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { claimFrom, claimRequest, finalBatchOf, newJob, outcomes, type Claim } from '../support/jobs.js';
import { keyedJob } from '../support/keyed-job.js';
import { rewritingDriver, waitForLocks } from '../support/rewriting-driver.js';
import { describeStoresOf, type World } from '../support/stores.js';

const CALLERS = 20;
const NEW_KEYS = 8;

// The statements of the library wait for locks longer than a test lasts. So a statement that returns has waited for no
// lock.
const driver = rewritingDriver(waitForLocks(600));

describeStoresOf(['mysql', 'mariadb'], 'a lock in an open transaction of the application', (setup) => {
  it.each(['REPEATABLE READ', 'READ COMMITTED'] as const)(
    'on a new key does not block heartbeats, completions and claims while other callers wait for the key (%s)',
    async (isolation) => {
      const { world, store, held, transaction } = await prepare();
      const [started, over] = [gate(), gate()];
      let open = 0;
      const callers = Array.from({ length: CALLERS }, () =>
        transaction(isolation, async (manager) => {
          if (++open === CALLERS) started.open();
          await started.opened;
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

  it('on keys that other callers also create does not block heartbeats, completions and claims', async () => {
    const { world, store, held, transaction } = await prepare();
    const keys = Array.from({ length: NEW_KEYS }, (_, n) => ({ key: `${n}` }));
    const callers = await transaction('READ COMMITTED', async (manager) => {
      // Like another process between its first read of the keys and its INSERT.
      for (const one of keys) {
        const { queue, key } = keyedJob(one);
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

  it('on jobs does not block heartbeats, completions and claims while cancels and removals wait for it', async () => {
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

  it('behind the newest job does not block heartbeats, completions and claims while enqueues wait for it', async () => {
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

  it('on an assignment that has ended does not block heartbeats, completions and claims of its queue and group', async () => {
    const { store, world, transaction } = await prepare();
    const { persons, held, groups } = await withGroup(world, store);

    const events = await transaction('READ COMMITTED', async (manager) => {
      const outcome = { outcome: outcomes.complete, retentionMs: 60_000 };
      const ended = await store.consumer.end(persons, { owner: 'ann' }, () => outcome, manager);
      await work(store, held, { queue: 'grouped', groups });
      return ended;
    });

    expect(events).toMatchObject({ job: { id: persons }, owner: 'ann' });
    expect(await world.admin.get(persons)).toMatchObject({ state: 'completed' });
  });

  it.each([
    ['cancel', 'person'],
    ['release', 'person'],
    ['release', 'worker'],
  ] as const)('on a job that an administrator takes (%s, from a %s) does not block its group', async (verb, holder) => {
    const { store, world, transaction } = await prepare();
    const { persons, held, groups } = await withGroup(world, store, 4);
    const { jobs } = await claimOfGroup(store, groups);
    const id = holder === 'person' ? persons : jobs[0]!.id;

    const result = await transaction('READ COMMITTED', async (manager) => {
      const change = { transaction: manager };
      const taken = verb === 'cancel' ? store.admin.cancel(id, () => 60_000, change) : store.admin.release(id, change);
      const left = await taken;
      await work(store, held, { queue: 'grouped', groups });
      return left;
    });

    expect(result).toMatchObject({ leftGroup: { queue: 'grouped', group: 'a' } });
    expect(await world.admin.get(id)).toMatchObject({ state: verb === 'cancel' ? 'cancelled' : 'waiting' });
  });

  it.each([
    [
      'pause',
      (store: OpenStore, manager: EntityManager) => store.admin.setPaused(['q'], true, { transaction: manager }),
    ],
    [
      'configure',
      (store: OpenStore, manager: EntityManager) =>
        store.admin.configure('q', { paused: true, concurrency: 7, enabled: false }, { transaction: manager }),
    ],
  ])('on a queue (%s) does not block heartbeats, completions and claims of workers and people', async (_name, verb) => {
    const { store, world, held, transaction } = await prepare();
    await store.workers.register({ id: 'worker-1', host: 'host', pid: 1, queues: new Map([['q', 1]]) });

    await transaction('READ COMMITTED', async (manager) => {
      await verb(store, manager);
      await work(store, held);
      expect(await store.consumer.claimPermit('q')).toMatchObject({ isPaused: false });
    });

    expect(await store.consumer.claimPermit('q')).toMatchObject({ isPaused: true });
    expect(await world.sql('SELECT id FROM sql_queue_history')).toHaveLength(1);
  });

  it('on queues does not block heartbeats, completions and claims while subscriptions and new workers wait', async () => {
    const { store, world, held, transaction } = await prepare();
    const subscriptions = [{ topic: 'user.*', where: {} }];

    const { waiting } = await transaction('READ COMMITTED', async (manager) => {
      await store.admin.setPaused(['new'], true, { transaction: manager });
      const verbs = Array.from({ length: 6 }, (_, n) => [
        store.queues.subscribe('new', subscriptions),
        store.queues.declare([{ queue: 'new', expiresAfterMs: null, subscriptions }]),
        store.workers.register({ id: `worker-${n}`, host: 'host', pid: 1, queues: new Map([['new', 1]]) }),
      ]);
      await untilWaiting(world, /(UPDATE|INTO) sql_queue_queues/, 5);
      await work(store, held);
      return { waiting: Promise.all(verbs.flat()) };
    });

    expect(await waiting).toHaveLength(18);
    expect(await store.consumer.claimPermit('new')).toMatchObject({ isPaused: true });
  });

  it('on the limits of a queue blocks its claims, so QueueAdmin.limit takes no manager', async () => {
    const { store, world, transaction } = await prepare();
    await store.limits.setLimits('q', { maxRunning: 9 });

    const claim = await transaction('READ COMMITTED', async (manager) => {
      await store.limits.setLimits('q', { maxRunning: 8 }, { transaction: manager });
      const claiming = store.jobs.claim(claimRequest({ isLimited: true }));
      await untilWaiting(world, /FROM sql_queue_limits.*FOR UPDATE/s, 1);
      return { claiming };
    });

    expect(await claim.claiming).toHaveLength(1);
  });

  it('on a group blocks completions of its jobs, so the verbs of groups take no manager', async () => {
    const { store, world, transaction } = await prepare();
    const { held } = await withGroup(world, store);

    const { completing } = await transaction('READ COMMITTED', async (manager) => {
      await store.groups.setLimits('grouped', 'a', { weight: 2 }, { transaction: manager });
      const waiting = store.jobs.complete(finalBatchOf(held));
      await untilWaiting(world, /UPDATE sql_queue_groups/, 1);
      return { completing: waiting };
    });

    expect((await completing).lost.size).toBe(0);
  });

  /** A store with an active job, a waiting job, and more connections than callers. */
  async function prepare() {
    const world = await setup();
    const dataSource = await world.connect({ driver, poolSize: CALLERS + NEW_KEYS });
    const store = await world.open({ dataSource });
    await world.put({}, {});
    const held = await claimFrom(store.jobs);
    return { world, store, held, transaction: dataSource.transaction.bind(dataSource) };
  }
});

/** A job of a group for a person, one that a worker has claimed, and others that wait. */
async function withGroup({ put }: World, store: OpenStore, count = 3) {
  const { consumer } = store;
  const groups = { ...DEFAULT_GROUP_RULES, concurrency: 9 };
  const [persons] = await put(...Array.from({ length: count }, () => ({ queue: 'grouped', group: 'a' })));
  const { id: claimId, jobs: claimed } = await claimOfGroup(store, groups);
  await consumer.splitClaim({ claimId, jobs: claimed, workerId: 'people', owner: 'ann', leaseMs: 900_000 });
  return { persons: persons!, held: await claimOfGroup(store, groups), groups };
}

async function claimOfGroup({ jobs }: OpenStore, groups: GroupRules): Promise<Claim> {
  return claimFrom(jobs, { queue: 'grouped', groups });
}

/** The statements of a worker in the same process. */
async function work({ jobs }: OpenStore, held: Claim, claim: Partial<ClaimRequest> = {}): Promise<void> {
  expect(await jobs.extend([held.id])).toMatchObject([{ claimId: held.id }]);
  await jobs.summarizeWork(['q']);
  const { lost, jobs: next } = await jobs.completeAndClaim(finalBatchOf(held), claimRequest(claim));
  expect({ lost: lost.size, next: next.length }).toEqual({ lost: 0, next: 1 });
}

async function enqueueWithin(store: OpenStore, manager: EntityManager, options: EnqueueOptions): Promise<string> {
  const placed = await store.jobs.enqueueKeyedInTransaction([keyedJob({ ...options, name: 'keyed' })], manager);
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
