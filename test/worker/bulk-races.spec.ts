import type { QueueAdmin } from '../../lib/admin/queue-admin.js';
import type { JobState } from '../../lib/job/job-state.js';
import type { JobStore } from '../../lib/store/verbs/job-store.js';
import { describeEngines, plainJobs, type World } from '../support/engines.js';
import { interceptingDriver } from '../support/intercepting-driver.js';
import { claimFrom, finalBatchOf, outcomes } from '../support/jobs.js';

const HOUR = 3_600_000;
const DISCARD = () => {
  throw new Error('it fails');
};

interface Change {
  /** What one operator does with the jobs that a filter names. */
  readonly verb: string;
  readonly act: (admin: QueueAdmin) => Promise<number>;
  /** What another one does with the job after the first one has found it. */
  readonly meanwhile: (admin: QueueAdmin, id: number) => Promise<unknown>;
  readonly prepare: 'dead' | 'scheduled';
  readonly after: { state: JobState; key?: string };
}

const CHANGES: Change[] = [
  {
    verb: 'remove',
    act: (admin) => admin.remove({ queue: 'q', state: 'dead' }),
    meanwhile: (admin, id) => admin.retry(id),
    prepare: 'dead',
    after: { state: 'waiting' },
  },
  {
    verb: 'retry',
    act: (admin) => admin.retry({ queue: 'q', state: 'dead' }),
    meanwhile: async (admin, id) => (await admin.retry(id)) && admin.reschedule(id, HOUR),
    prepare: 'dead',
    after: { state: 'scheduled' },
  },
  {
    verb: 'replay',
    act: (admin) => admin.retry({ queue: 'q', state: 'dead' }, { to: 'other', create: true }),
    meanwhile: async (admin, id) => (await admin.retry(id)) && admin.cancel(id),
    prepare: 'dead',
    after: { state: 'cancelled' },
  },
  {
    verb: 'promote',
    act: (admin) => admin.promote({ queue: 'q', headers: { tenant: 'a' } }),
    meanwhile: (admin, id) => admin.update(id, { headers: { tenant: 'b' } }),
    prepare: 'scheduled',
    after: { state: 'scheduled' },
  },
  {
    verb: 'cancel',
    act: (admin) => admin.cancel({ queue: 'q', state: 'scheduled' }),
    meanwhile: (admin, id) => admin.promote(id),
    prepare: 'scheduled',
    after: { state: 'waiting' },
  },
];

// The locking read of the jobs that the filter has found.
const LOCKS_FOUND = /^\s*SELECT (j|h)\.id\s+FROM .*FOR UPDATE/s;

describeEngines(
  'a change of the jobs that a filter names',
  (setup) => {
    it.each(CHANGES)('leaves a job that matches no more when $verb locks it', async (change) => {
      const world = await setup();
      const { producer, admin, runner, events } = await world.start({
        queues: { q: { retry: { attempts: 1 } } },
        handlers: { q: DISCARD },
        autoStart: false,
      });
      const { id } = await producer.enqueue(
        'q',
        {},
        { headers: { tenant: 'a' }, delay: change.prepare === 'dead' ? 0 : HOUR },
      );
      if (change.prepare === 'dead') {
        await runner.start();
        await events.until('dead');
        await runner.stop();
      }

      const changed = await change.act(await adminThatMeets(world, () => change.meanwhile(admin, id)));

      expect(changed).toBe(0);
      expect(await admin.get(id)).toMatchObject(change.after);
    });
  },
  ['mysql', 'mariadb'],
);

describeEngines('admin.cancel with a filter', (setup) => {
  const retryLater = { ...outcomes.retry, delayMs: HOUR };

  it.each([
    ['fails after the search for scheduled jobs', 'waiting', retryLater],
    ['is released after the search for waiting jobs', 'blocked', outcomes.release],
    ['fails before its cancellation is requested', 'none', retryLater],
  ] as const)('cancels an active job that %s', async (_title, nextSearch, outcome) => {
    const world = await setup();
    const { producer, admin, store, opened } = await world.start({ autoStart: false });
    const { id } = await producer.enqueue('q', 0);
    const claim = await claimOne(store);
    await producer.enqueueMany('q', plainJobs(2));
    const endAttempt = once(() => store.complete(finalBatchOf(claim, outcome)));
    const { findIds, cancelIdle } = opened.stores.admin;
    vi.spyOn(opened.stores.admin, 'findIds').mockImplementation(async (search, ...more) => {
      if (search.state === nextSearch) await endAttempt();
      return findIds(search, ...more);
    });
    vi.spyOn(opened.stores.admin, 'cancelIdle').mockImplementation(async (ids, ...more) => {
      const cancelled = await cancelIdle(ids, ...more);
      if (nextSearch === 'none' && ids.includes(id)) await endAttempt();
      return cancelled;
    });

    expect(await admin.cancel({ queue: 'q' })).toBe(3);
    expect(await admin.get(id)).toMatchObject({ state: 'cancelled' });
    expect(await admin.counts('q')).toMatchObject({ waiting: 0, scheduled: 0, active: 0, cancelled: 3 });
  });

  it('cancels a blocked job that waits no more because the job that it needs is cancelled', async () => {
    const world = await setup();
    const { producer, admin } = await world.start({ autoStart: false });
    await producer.flow((f) => f.add('q', 0, { after: f.add('q', 0), onFailure: 'run' }));

    expect(await admin.cancel({ queue: 'q' })).toBe(2);
    expect(await admin.counts('q')).toMatchObject({ waiting: 0, blocked: 0, cancelled: 2 });
  });

  it('counts a running job once', async () => {
    const world = await setup();
    const { producer, admin, store } = await world.start({ autoStart: false });
    await producer.enqueueMany('q', plainJobs(3));
    const { jobs } = await claimOne(store);

    expect(await admin.cancel({ queue: 'q' }, { dryRun: true })).toBe(3);
    expect(await admin.cancel({ queue: 'q' })).toBe(3);
    expect(await admin.counts('q')).toMatchObject({ cancelled: 2 });
    expect(await admin.get(jobs[0]!.id)).toMatchObject({ state: 'active' });
    expect((await admin.audit({ verb: 'cancel' })).entries).toMatchObject([{ count: 3 }]);
  });

  it('counts a running job once if a list names it twice', async () => {
    const world = await setup();
    const { producer, admin, store } = await world.start({ autoStart: false });
    const { id } = await producer.enqueue('q', 0);
    await claimOne(store);

    expect(await admin.cancel([id, id], { dryRun: true })).toBe(1);
    expect(await admin.cancel([id, id])).toBe(1);
    expect((await admin.audit({ verb: 'cancel' })).entries).toMatchObject([{ count: 1 }]);
  });

  it.each([{ state: 'active' }, { worker: 'worker-1' }] as const)(
    'leaves jobs that match %j only after the search',
    async (filter) => {
      const world = await setup();
      const { producer, admin, store, opened } = await world.start({ autoStart: false });
      await producer.enqueueMany('q', plainJobs(2));
      const earlier = await claimOne(store);
      const { cancel } = opened.stores.admin;
      const claimNext = once(() => claimOne(store));
      vi.spyOn(opened.stores.admin, 'cancel').mockImplementation(async (...given) => {
        const result = await cancel(...given);
        await claimNext();
        return result;
      });

      expect(await admin.cancel({ queue: 'q', ...filter })).toBe(1);
      const later = await claimNext();

      expect(await store.extend([earlier.id])).toMatchObject([{ cancelRequested: [earlier.jobs[0]!.id] }]);
      expect(await store.extend([later.id])).toMatchObject([{ cancelRequested: [] }]);
    },
  );
});

const claimOne = (store: JobStore) => claimFrom(store, { strategy: 'update' });

/** Calls the function the first time, and returns its promise each time. */
function once<T>(act: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined;
  return () => (done ??= act());
}

/** An administrator in another process. Before it locks the jobs that it has found, the change happens. */
async function adminThatMeets(world: World, change: () => Promise<unknown>): Promise<QueueAdmin> {
  let hasChanged = false;
  const driver = interceptingDriver(async (sql) => {
    if (hasChanged || !LOCKS_FOUND.test(sql)) return;
    hasChanged = true;
    await change();
  });
  return (await world.start({ dataSource: await world.connect({ driver }), autoStart: false })).admin;
}
