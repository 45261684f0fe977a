import type { EntityManager } from 'typeorm';
import type { QueueAdmin } from '../../lib/admin/queue-admin.js';
import { describeEngines, gate, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';

type Verb = (admin: QueueAdmin, id: number, manager: EntityManager) => Promise<unknown>;

type QueueVerb = (admin: QueueAdmin, manager: EntityManager) => Promise<unknown>;

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

/** Each verb for a queue, and the record of the queue that shows its change. */
const QUEUE_VERBS: Record<string, readonly [verb: QueueVerb, changed: object]> = {
  pause: [(admin, manager) => admin.pause('q', { manager }), { paused: true }],
  'pause of all queues': [(admin, manager) => admin.pause({ all: true }, { manager }), { paused: true }],
  resume: [(admin, manager) => admin.resume('q', { manager }), { paused: false }],
  configure: [
    (admin, manager) => admin.configure('q', { paused: true, concurrency: 7 }, { manager }),
    { paused: true, settings: { concurrency: 7 } },
  ],
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
  it.each(['cancel', 'release'] as const)('%s makes the group of the job claimable after the commit', async (verb) => {
    const world = await setup();
    const { admin, consumer, producer } = await world.start({
      autoStart: false,
      queues: { q: { groups: { concurrency: 1 } } },
    });
    const ann = { owner: 'ann' };
    const [first] = await producer.enqueueMany('q', [
      { payload: 1, options: { group: 'a' } },
      { payload: 2, options: { group: 'a' } },
    ]);
    await consumer.claim('q', ann);
    const atLimit = await consumer.claim('q', ann);

    await world.dataSource.transaction((manager) => admin[verb](first!.id, { manager }));

    const stateOf = async () => (await world.sql<{ state: string }>('SELECT state FROM sql_queue_groups'))[0]!.state;
    await eventually(async () => (await stateOf()) === 'ready');
    expect(atLimit).toEqual([]);
    expect(await consumer.claim('q', ann)).toMatchObject([{ payload: verb === 'cancel' ? 2 : 1 }]);
  });

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

describeEngines("a verb of QueueAdmin for a queue in the caller's transaction", (setup) => {
  /** A queue that is paused if the verb resumes it. */
  async function withQueue(world: World, verb: string) {
    const engine = await world.start({ autoStart: false });
    await engine.producer.enqueue('q', 1);
    if (verb === 'resume') await engine.admin.pause('q');
    const queue = async () => (await engine.admin.queues()).find((each) => each.queue === 'q')!;
    return { ...engine, queue, changes: async () => (await engine.admin.audit()).entries.length };
  }

  it.each(Object.entries(QUEUE_VERBS))('%s changes the queue and its audit if it commits', async (name, verbOf) => {
    const [verb, changed] = verbOf;
    const world = await setup();
    const { admin, queue, changes } = await withQueue(world, name);
    const before = await changes();

    await world.dataSource.transaction((manager) => verb(admin, manager));

    expect(await queue()).toMatchObject(changed);
    expect(await changes()).toBe(before + 1);
  });

  it.each(Object.entries(QUEUE_VERBS))('%s changes nothing if it rolls back', async (name, [verb]) => {
    const world = await setup();
    const { admin, queue, changes } = await withQueue(world, name);
    const before = [await queue(), await changes()];

    await rollback(world, (manager) => verb(admin, manager));

    expect([await queue(), await changes()]).toEqual(before);
  });

  it.each(Object.entries(QUEUE_VERBS))('%s rejects a manager whose transaction has ended', async (name, [verb]) => {
    const world = await setup();
    const { admin, queue } = await withQueue(world, name);
    const before = await queue();
    let ended!: EntityManager;
    await world.dataSource.transaction(async (manager) => void (ended = manager));

    await expect(verb(admin, ended)).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
    expect(await queue()).toEqual(before);
  });

  it('notifies workers only after the commit', async () => {
    const world = await setup();
    const { admin, workerChannel } = await withQueue(world, 'pause');
    const sent = () => workerChannel.sentToAll;
    const before = sent();

    await rollback(world, (manager) => admin.pause('q', { manager }));
    const afterRollback = sent();
    const beforeCommit = await world.dataSource.transaction(async (manager) => {
      await admin.pause('q', { manager });
      return sent();
    });

    expect([afterRollback, beforeCommit, sent()]).toEqual([before, before, before + 1]);
  });

  it('subscribes and unsubscribes a queue only if it commits', async () => {
    const world = await setup();
    const { admin, producer } = await withQueue(world, 'subscribe');
    const subscribe = (manager: EntityManager) => admin.subscribe('q', { topic: 'user.*' }, { manager });
    const unsubscribe = (manager: EntityManager) => admin.unsubscribe('q', 'user.*', { manager });
    const copies = async () => (await producer.publish('user.created', 1)).length;

    await rollback(world, subscribe);
    const seen = [await copies()];
    await world.dataSource.transaction(subscribe);
    await rollback(world, unsubscribe);
    seen.push(await copies());
    await world.dataSource.transaction(unsubscribe);
    seen.push(await copies());

    expect(seen).toEqual([0, 1, 0]);
    const { entries } = await admin.audit({}, { order: 'oldest' });
    expect(entries.map(({ verb }) => verb)).toEqual(['subscribe', 'unsubscribe']);
  });

  it('is refused for limits, groups and the deletion of a queue, and changes nothing', async () => {
    const world = await setup();
    const { admin, queue, changes } = await withQueue(world, 'limit');
    const before = [await queue(), await changes()];
    const group = admin.group('q', 'g');
    const calls: Record<string, (manager: never) => Promise<unknown>> = {
      limit: (manager) => admin.limit('q', { maxRunning: 1 }, { manager }),
      'limit in its change': (manager) => admin.limit('q', { maxRunning: 1, manager } as never),
      'configure with a limit': (manager) => admin.configure('q', { maxRunning: 1 }, { manager }),
      'configure with a rate': (manager) => admin.configure('q', { rate: false, paused: true }, { manager }),
      'configure with null': (manager) => admin.configure('q', null, { manager }),
      'pause of a group': (manager) => group.pause({ manager }),
      'resume of a group': (manager) => group.resume({ manager }),
      'limit of a group': (manager) => group.limit({ weight: 2 }, { manager }),
      'rest of a group': (manager) => group.rest('1h', { manager }),
      obliterate: (manager) => admin.obliterate('q', { confirm: 'q', manager } as never),
      cancelFlow: (manager) => admin.cancelFlow(1, { manager } as never),
      retryFlow: (manager) => admin.retryFlow(1, { manager } as never),
      erase: (manager) => admin.erase('user:1', { manager } as never),
      prune: (manager) => admin.prune({ manager }),
      rekey: (manager) => admin.rekey({ manager } as never),
    };

    await world.dataSource.transaction(async (manager) => {
      for (const [call, refused] of Object.entries(calls)) {
        const error = await refused(manager as never).catch((each: unknown) => each as Error);
        expect({ call, error }).toMatchObject({ call, error: { code: 'INVALID_OPTIONS' } });
        expect(error).toMatchObject({ message: expect.stringMatching(/manager/) });
      }
      await expect(admin.limit('q', null, { manager } as never)).rejects.toThrow(
        /expected no manager, because claims .* wait .*, got one\. Leave it out, and call the verb after your commit/,
      );
      await expect(admin.configure('q', null, { manager })).rejects.toThrow(
        /expected only concurrency, paused and enabled with a manager, because claims .* wait .*, got null/,
      );
    });

    expect([await queue(), await changes()]).toEqual(before);
  });
});
