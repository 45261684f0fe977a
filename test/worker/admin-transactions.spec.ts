import type { EntityManager } from 'typeorm';
import type { QueueAdmin } from '../../lib/admin/queue-admin.js';
import { describeEngines, gate, type World } from '../support/engines.js';

type Verb = (admin: QueueAdmin, id: number, manager: EntityManager) => Promise<unknown>;

/** Each verb, and the part of the job that shows its change. */
const VERBS: Record<string, readonly [verb: Verb, changed: object | null]> = {
  cancel: [(admin, id, manager) => admin.cancel(id, { manager }), { state: 'cancelled' }],
  'cancel of a list': [(admin, id, manager) => admin.cancel([id], { manager }), { state: 'cancelled' }],
  'cancel of a filter with a limit': [
    (admin, _id, manager) => admin.cancel({ queue: 'q' }, { limit: 500, manager }),
    { state: 'cancelled' },
  ],
  promote: [(admin, id, manager) => admin.promote(id, { manager }), { state: 'waiting' }],
  retry: [(admin, id, manager) => admin.retry([id], { manager }), { state: 'waiting' }],
  reschedule: [
    (admin, id, manager) => admin.reschedule(id, new Date('2099-01-01T00:00:00Z'), { manager }),
    { runAt: new Date('2099-01-01T00:00:00Z') },
  ],
  reprioritise: [(admin, id, manager) => admin.reprioritise(id, 7, { manager }), { priority: 7 }],
  update: [(admin, id, manager) => admin.update(id, { payload: 'new' }, { manager }), { payload: 'new' }],
  remove: [(admin, id, manager) => admin.remove(id, { manager }), null],
};

/** A scheduled job, without a running worker. */
async function withScheduledJob(world: World) {
  const engine = await world.start({ autoStart: false });
  const { id } = await engine.producer.enqueue('q', 'old', { delay: '1h' });
  return { ...engine, id };
}

async function rollback(world: World, act: (manager: EntityManager) => Promise<unknown>): Promise<void> {
  const rolledBack = world.dataSource.transaction(async (manager) => {
    await act(manager);
    throw new Error('roll back');
  });
  await expect(rolledBack).rejects.toThrow('roll back');
}

describeEngines("a verb of QueueAdmin in the caller's transaction", (setup) => {
  it.each(Object.entries(VERBS))('%s changes the job and its audit if it commits', async (_name, [verb, changed]) => {
    const world = await setup();
    const { admin, id } = await withScheduledJob(world);

    await world.dataSource.transaction((manager) => verb(admin, id, manager));

    const job = await admin.get(id);
    if (changed === null) expect(job).toBeNull();
    else expect(job).toMatchObject(changed);
    expect((await admin.audit()).entries).toMatchObject([{ count: 1, queue: 'q' }]);
  });

  it.each(Object.entries(VERBS))('%s changes nothing if it rolls back', async (_name, [verb]) => {
    const world = await setup();
    const { admin, id } = await withScheduledJob(world);
    const before = await admin.get(id);

    await rollback(world, (manager) => verb(admin, id, manager));

    expect(await admin.get(id)).toEqual(before);
    expect((await admin.audit()).entries).toEqual([]);
  });

  it.each(Object.entries(VERBS))('%s rejects a manager whose transaction has ended', async (_name, [verb]) => {
    const world = await setup();
    const { admin, id } = await withScheduledJob(world);
    const before = await admin.get(id);
    let ended!: EntityManager;
    await world.dataSource.transaction(async (manager) => void (ended = manager));

    await expect(verb(admin, id, ended)).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
    expect(await admin.get(id)).toEqual(before);
  });

  it('rejects a manager whose transaction was rolled back', async () => {
    const world = await setup();
    const { admin, id } = await withScheduledJob(world);
    const runner = world.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.rollbackTransaction();

    const cancelling = admin.cancel(id, { manager: runner });

    await expect(cancelling).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
    await runner.release();
    expect(await admin.get(id)).toMatchObject({ state: 'scheduled' });
  });

  it('changes a job that the same transaction has enqueued', async () => {
    const world = await setup();
    const { admin, producer } = await world.start({ autoStart: false });

    const [id, copy] = await world.dataSource.transaction(async (manager) => {
      const job = await producer.enqueue('q', 1, { manager, delay: '1h' });
      await admin.update(job.id, { payload: 2 }, { manager });
      return [job.id, await admin.duplicate(job.id, { manager })];
    });

    expect(await admin.get(id)).toMatchObject({ payload: 2 });
    expect(await admin.get(copy!)).toMatchObject({ payload: 2, state: 'waiting' });
  });

  it('enqueues no copy if it rolls back', async () => {
    const world = await setup();
    const { admin, id } = await withScheduledJob(world);

    await rollback(world, (manager) => admin.duplicate(id, { manager }));

    expect(await admin.counts('q')).toMatchObject({ scheduled: 1, waiting: 0 });
  });

  it('starts a finished job with its key anew', async () => {
    const world = await setup();
    const { admin, producer } = await world.start({ autoStart: false });
    const { id } = await producer.enqueue('q', 1, { key: 'k' });
    await admin.cancel(id);

    await world.dataSource.transaction((manager) => admin.retry(id, { manager }));

    expect(await admin.get(id)).toMatchObject({ state: 'waiting' });
    expect(await producer.enqueue('q', 2, { key: 'k' })).toMatchObject({ id });
  });

  it('emits its events only after the commit', async () => {
    const world = await setup();
    const seen: string[] = [];
    const { admin, id, events } = await withScheduledJob(world);
    const cancelled = events.until('cancelled').then(() => seen.push('cancelled'));

    await rollback(world, (manager) => admin.cancel(id, { manager }));
    await world.dataSource.transaction(async (manager) => {
      await admin.cancel(id, { manager });
      await manager.query('SELECT 1');
      seen.push('before the commit');
    });
    await cancelled;

    expect(seen).toEqual(['before the commit', 'cancelled']);
  });

  it('takes a running job from its worker only if it commits', async () => {
    const world = await setup();
    const [started, aborted] = [gate(), gate()];
    const { admin, producer } = await world.start({
      handlers: {
        q: async ({ signal, attempt }) => {
          if (signal.aborted || attempt > 1) return;
          signal.addEventListener('abort', () => aborted.open());
          started.open();
          await aborted.opened;
        },
      },
    });
    const { id } = await producer.enqueue('q', 1);
    await started.opened;

    await rollback(world, (manager) => admin.cancel(id, { manager }));
    expect(await admin.get(id)).toMatchObject({ state: 'active' });
    await world.dataSource.transaction((manager) => admin.cancel(id, { manager }));

    await aborted.opened;
  });

  it('rejects a filter without a limit and a list that is longer than a batch', async () => {
    const world = await setup();
    const { admin, id } = await withScheduledJob(world);
    const ids = Array.from({ length: 501 }, (_, n) => id + n);

    await world.dataSource.transaction(async (manager) => {
      const refused = { code: 'INVALID_OPTIONS', message: expect.stringMatching(/at most 500.*leave manager out/) };
      await expect(admin.cancel({ queue: 'q' }, { manager })).rejects.toMatchObject(refused);
      await expect(admin.retry({ all: true }, { manager, limit: 501 })).rejects.toMatchObject(refused);
      await expect(admin.remove(ids, { manager })).rejects.toMatchObject(refused);
    });

    expect(await admin.get(id)).toMatchObject({ state: 'scheduled' });
  });
});
