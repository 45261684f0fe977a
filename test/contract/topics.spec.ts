import { isTurnLong } from '../../lib/common/turn.js';
import type { EnqueueOptions } from '../../lib/job/enqueue-options.js';
import type { QueueOptions } from '../../lib/job/queue-options.js';
import { subscriptionsOf, type SubscriptionOptions } from '../../lib/job/topics.js';
import type { InTransaction } from '../../lib/producer/enqueued-job.js';
import { claimRequest, finalBatchOf } from '../support/jobs.js';
import { openProducer } from '../support/open-producer.js';
import { interceptingDriver } from '../support/intercepting-driver.js';
import { describeStores, describeStoresOf, type World } from '../support/stores.js';
import { UNLIMITED } from '../support/limits.js';

describeStores('publish()', (setup) => {
  it('stores one copy in each queue with a subscription to the topic, and in no other', async () => {
    const world = await setup();
    await subscribe(world, 'crm.sync', { topic: 'user.created' });
    await subscribe(world, 'audit', { topic: ['order.paid', 'user.created'] });
    await subscribe(world, 'shop', { topic: 'order.paid' });

    const copies = await publish(world, 'user.created', { id: 7 });

    expect(copies.map(({ queue, name }) => [queue, name])).toEqual([
      ['audit', 'default'],
      ['crm.sync', 'default'],
    ]);
    expect(await stored(world)).toEqual(
      copies.map(({ id, queue }) => ({ id, queue, payload: { id: 7 }, headers: { topic: 'user.created' } })),
    );
  });

  it('lets the event loop run between the copies of a long message', async () => {
    const world = await setup();
    for (const queue of ['audit', 'crm.sync', 'shop']) await subscribe(world, queue, { topic: 'user.created' });
    let turn = 0;
    const turns = new Set<number>();
    const payload = {
      toJSON() {
        turns.add(turn);
        setImmediate(() => turn++);
        while (!isTurnLong());
        return 1;
      },
    };

    await publish(world, 'user.created', payload);

    // The message is checked in the first turn.
    expect(turns.size).toBeGreaterThan(3);
  });

  it('stores nothing without subscriptions', async () => {
    const world = await setup();
    await subscribe(world, 'shop', { topic: 'order.paid' });

    expect(await publish(world, 'user.created', 0)).toEqual([]);
    expect(await stored(world)).toEqual([]);
  });

  it.each([
    ['user.*', true],
    ['user.created', true],
    ['user.created*', true],
    ['us*', true],
    ['*', true],
    ['user', false],
    ['user.created.*', false],
    ['User.*', false],
    ['created', false],
  ])('reaches a queue with a subscription to %s: %o', async (topic, isReached) => {
    const world = await setup();
    await subscribe(world, 'q', { topic });

    expect(await publish(world, 'user.created', 0)).toHaveLength(isReached ? 1 : 0);
  });

  it.each<[NonNullable<SubscriptionOptions['where']>, boolean]>([
    [{}, true],
    [{ region: 'eu' }, true],
    [{ region: 'EU' }, false],
    [{ region: ['uk', 'eu'] }, true],
    [{ region: ['uk', 'us'] }, false],
    [{ region: 'eu', plan: 'pro' }, true],
    [{ region: 'eu', plan: 'free' }, false],
    [{ tenant: 'a' }, false],
    [{ constructor: 'a' }, false],
    [{ topic: 'user.created' }, true],
  ])('stores a copy only if the headers match the condition of the subscription: %j %o', async (where, isReached) => {
    const world = await setup();
    await subscribe(world, 'q', { topic: 'user.*', where });

    const copies = await publish(world, 'user.created', 0, { headers: { region: 'eu', plan: 'pro' } });

    expect(copies).toHaveLength(isReached ? 1 : 0);
    expect(await stored(world)).toHaveLength(copies.length);
  });

  it('stores one copy in a queue with several matching subscriptions', async () => {
    const world = await setup();
    await subscribe(world, 'q', { topic: ['user.*', 'user.created', '*'] });
    await subscribe(world, 'q', { topic: 'us*', where: { region: 'eu' } });

    expect(await publish(world, 'user.created', 0, { headers: { region: 'eu' } })).toHaveLength(1);
    expect(await publish(world, 'user.created', 0)).toHaveLength(1);
  });

  it('applies its options to each copy', async () => {
    const world = await setup();
    await subscribe(world, 'a', { topic: '*' });
    await subscribe(world, 'b', { topic: '*' });

    const options = { name: 'n', priority: 3, retry: 2, delay: '1h', headers: { trace: 'ü' } } as const;
    const copies = await publish(world, 'user.created', 0, options);

    for (const { id, queue } of copies)
      expect(await world.admin.get(id)).toMatchObject({
        ...{ queue, name: 'n', state: 'scheduled', priority: 3, maxAttempts: 2 },
        headers: { trace: 'ü', topic: 'user.created' },
      });
  });

  it('stores the copies of a caller’s transaction exactly if the transaction commits', async () => {
    const world = await setup();
    await subscribe(world, 'a', { topic: '*' });
    await subscribe(world, 'b', { topic: '*' });

    const committed = await world.dataSource.transaction((manager) => publish(world, 'x', 1, { manager }));
    const undone = world.dataSource.transaction(async (manager) => {
      await openProducer(world).withManager(manager).publish('x', 2);
      throw new Error('no');
    });

    await expect(undone).rejects.toThrow('no');
    expect((await stored(world)).map(({ id }) => id)).toEqual(committed.map(({ id }) => id));
    expect((await stored(world)).map(({ payload }) => payload)).toEqual([1, 1]);
  });

  it.each<[string, unknown, object, string]>([
    ['', 0, {}, 'INVALID_OPTIONS'],
    ['user.*', 0, {}, 'INVALID_OPTIONS'],
    ['user created', 0, {}, 'INVALID_OPTIONS'],
    ['x'.repeat(101), 0, {}, 'INVALID_OPTIONS'],
    [undefined as never, 0, {}, 'INVALID_OPTIONS'],
    ['x', 0, null as never, 'INVALID_OPTIONS'],
    ['x', 0, { delay: 'soon' }, 'INVALID_OPTIONS'],
    ['x', 0, { dealy: '1s' }, 'INVALID_OPTIONS'],
    ['x', 0, { headers: { region: 1 } }, 'INVALID_OPTIONS'],
    ['x', 0, { headers: { topic: 'y' } }, 'INVALID_OPTIONS'],
    ['x', 0, { manager: {} }, 'INVALID_OPTIONS'],
    ['x', 1n, {}, 'PAYLOAD_INVALID'],
    ['x', undefined, {}, 'PAYLOAD_INVALID'],
  ])('rejects %o with %o and %o, with and without subscriptions', async (topic, payload, options, code) => {
    const world = await setup();

    await expect(publish(world, topic, payload, options)).rejects.toMatchObject({ code });
    await subscribe(world, 'q', { topic: '*' });
    await expect(publish(world, topic, payload, options)).rejects.toMatchObject({ code });

    expect(await stored(world)).toEqual([]);
  });

  it('names the problem of the message in its error', async () => {
    const world = await setup();

    await expect(publish(world, 'x', 0, { dealy: 1, headers: { a: 1 } } as never)).rejects.toThrow(
      /^Cannot publish "x": \n {2}- unknown option "dealy", did you mean "delay"\?\n {2}- expected header "a" to be a text, got 1$/,
    );
    await expect(publish(world, 'x', 1n)).rejects.toThrow(
      /^Payload for topic "x": expected a value that JSON can carry/,
    );
  });

  it('stores no copy if one queue rejects its copy', async () => {
    const world = await setup();
    await subscribe(world, 'a', { topic: '*' });
    await subscribe(world, 'z', { topic: '*' });
    const refusing = {
      '~standard': { version: 1, vendor: 'test', validate: () => ({ issues: [{ message: 'no' }] }) },
    } as const;
    const producer = (z: QueueOptions) => openProducer(world, (queue) => (queue === 'z' ? z : {}));
    await world.put({ queue: 'z' });

    const refusals = await Promise.all([
      producer({ schema: refusing }).publish('x', 0).catch(codeOf),
      producer({ maxPayloadBytes: 3 }).publish('x', 'four').catch(codeOf),
      producer({ maxWaiting: 1 }).publish('x', 0).catch(codeOf),
      producer({})
        .publish('x', 0, { headers: { long: 'x'.repeat(17_000) } })
        .catch(codeOf),
    ]);

    expect(refusals).toEqual(['PAYLOAD_INVALID', 'PAYLOAD_TOO_LARGE', 'QUEUE_FULL', 'PAYLOAD_TOO_LARGE']);
    expect(await stored(world)).toHaveLength(1);
  });
});

describeStoresOf(['mysql', 'mariadb'], 'publish() in a transaction with an older snapshot', (setup) => {
  it('reaches a queue that has subscribed since the transaction began', async () => {
    const world = await setup();

    const copies = await world.dataSource.transaction('REPEATABLE READ', async (manager) => {
      const before = await manager.query<unknown[]>('SELECT * FROM sql_queue_subscriptions');
      await subscribe(world, 'late', { topic: 'user.*' });
      const after = await manager.query<unknown[]>('SELECT * FROM sql_queue_subscriptions');
      expect([before, after]).toEqual([[], []]);
      return publish(world, 'user.created', 0, { manager });
    });

    expect(copies).toMatchObject([{ queue: 'late' }]);
  });
});

describeStores('a subscription', (setup) => {
  it('is visible to all processes, and creates the queue', async () => {
    const world = await setup();
    await subscribe(world, 'b', { topic: ['x.*', 'a'], where: { region: ['us', 'eu', 'us'], plan: 'pro' } });
    await subscribe(world, 'a', { topic: '*' });

    const known = await world.queues.subscriptions();

    expect(known.map(({ queue, topic, where }) => ({ queue, topic, where }))).toEqual([
      { queue: 'a', topic: '*', where: {} },
      { queue: 'b', topic: 'a', where: { plan: 'pro', region: ['eu', 'us'] } },
      { queue: 'b', topic: 'x.*', where: { plan: 'pro', region: ['eu', 'us'] } },
    ]);
    expect(known[0]!.createdAt).toBeInstanceOf(Date);
    expect((await world.admin.queues()).map(({ queue }) => queue)).toEqual(['a', 'b']);
  });

  it('replaces the condition of an earlier subscription to the same topic', async () => {
    const world = await setup();
    await subscribe(world, 'q', { topic: ['x', 'y'], where: { region: 'eu' } });

    await subscribe(world, 'q', { topic: 'x' });
    await subscribe(world, 'q', { topic: 'y', where: { region: 'us' } });

    expect((await world.queues.subscriptions()).map(({ topic, where }) => [topic, where])).toEqual([
      ['x', {}],
      ['y', { region: 'us' }],
    ]);
  });

  it('ends by its exact topic or with all others of the queue, and leaves existing copies', async () => {
    const world = await setup();
    await subscribe(world, 'q', { topic: ['x', 'x*', 'y'] });
    await subscribe(world, 'other', { topic: 'x' });
    await publish(world, 'x', 0);

    const ended = [await world.queues.unsubscribe('q', 'x*'), await world.queues.unsubscribe('q', 'z')];
    const left = (await world.queues.subscriptions()).map(({ queue, topic }) => `${queue} ${topic}`);
    const all = [await world.queues.unsubscribe('q'), await world.queues.unsubscribe('q')];

    expect([ended, all]).toEqual([
      [1, 0],
      [2, 0],
    ]);
    expect(left).toEqual(['other x', 'q x', 'q y']);
    expect((await world.queues.subscriptions()).map(({ queue }) => queue)).toEqual(['other']);
    expect(await stored(world)).toHaveLength(2);
  });
});

describeStores('a worker that declares its queues', (setup) => {
  it('subscribes them, and updates changed conditions', async () => {
    const world = await setup();
    await declare(world, { topic: ['a', 'b'], where: { region: 'eu' } });

    await declare(world, { topic: ['b', 'c'], where: { region: 'us' } });

    expect((await world.queues.subscriptions()).map(({ topic, where }) => [topic, where])).toEqual([
      ['a', { region: 'eu' }],
      ['b', { region: 'us' }],
      ['c', { region: 'us' }],
    ]);
  });

  it('reports subscriptions that it does not declare, and keeps them', async () => {
    const world = await setup();
    await declare(world, { topic: ['a', 'b'] });
    await subscribe(world, 'other', { topic: 'x' });

    const unspoken = [await declare(world, { topic: 'b' }), await declare(world)];

    expect(unspoken.map((list) => list.map(({ topic }) => topic))).toEqual([['a'], ['a', 'b']]);
    expect(await world.queues.subscriptions()).toHaveLength(3);
  });

  it('writes nothing if nothing has changed', async () => {
    const world = await setup();
    await declare(world, { topic: ['a', 'b'], where: { region: ['eu', 'us'], plan: 'pro' } });
    const queueRow = () => world.sql('SELECT * FROM sql_queue_queues');
    const before = await queueRow();
    world.advance(60_000);

    await declare(world, { topic: ['b', 'a', 'b'], where: { plan: 'pro', region: ['us', 'eu'] } });

    expect(await queueRow()).toEqual(before);
  });

  it('writes nothing for a queue without topics', async () => {
    const world = await setup();

    await declare(world);

    expect(await world.admin.queues()).toEqual([]);
  });

  it('can declare the same queues at the same time as other workers', async () => {
    const world = await setup();
    const others = await Promise.all(Array.from({ length: 5 }, () => world.open()));

    await Promise.all(others.map((store) => declare({ ...world, ...store }, { topic: ['a', 'b'] }, 60_000)));

    expect((await world.queues.subscriptions()).map(({ topic }) => topic)).toEqual(['a', 'b']);
    expect(await world.admin.queues()).toEqual([{ queue: 'q', paused: false, expiresAfterMs: 60_000, ...UNLIMITED }]);
  });
});

describeStores('a temporary queue', (setup) => {
  it('expires with its subscriptions when it is empty and unused for the set time', async () => {
    const world = await setup();
    await declare(world, { topic: 'user.*' }, 60_000);
    await subscribe(world, 'stays', { topic: 'user.*' });
    world.advance(30_000);
    await world.queues.markUsed(['q']);

    world.advance(58_000);
    const tooEarly = await world.queues.expire();
    world.advance(2_000);
    const expired = await world.queues.expire();

    expect([tooEarly, expired]).toEqual([[], ['q']]);
    expect(await world.admin.queues()).toMatchObject([{ queue: 'stays' }]);
    expect(await world.queues.subscriptions()).toMatchObject([{ queue: 'stays' }]);
    expect(await world.queues.markUsed(['q'])).toBe(false);
  });

  it.each<[string, (world: World) => Promise<unknown>]>([
    ['a waiting job', ({ put }) => put({})],
    ['a scheduled job', ({ put }) => put({ delayMs: 9_000_000 })],
    ['an active job', ({ put, claim }) => put({}).then(() => claim())],
    [
      'a worker that is alive',
      async ({ workers, advance }) => {
        advance(50_000);
        await workers.register({
          id: 'w',
          host: 'h',
          pid: 1,
          queues: new Map([
            ['another', 1],
            ['q', 1],
          ]),
        });
        advance(-50_000);
      },
    ],
    ['a pause', ({ admin }) => admin.setPaused(['q'], true)],
    ['the setting `enabled: false`', ({ admin }) => admin.configure('q', { enabled: false })],
    ['hours in which it is enabled', ({ admin }) => admin.configure('q', { enabled: { from: '08:00', to: '18:00' } })],
    ['a permanent declaration', (world) => declare(world)],
  ])('stays if it has %s', async (_, happen) => {
    const world = await setup();
    await declare(world, { topic: '*' }, 60_000);
    await happen(world);

    world.advance(60_000);

    expect(await world.queues.expire()).toEqual([]);
    expect(await world.queues.subscriptions()).toHaveLength(1);
  });

  it('expires with a setting that stops no job', async () => {
    const world = await setup();
    await declare(world, { topic: '*' }, 60_000);
    await world.admin.configure('q', { concurrency: 7, enabled: false });
    await world.admin.configure('q', { enabled: null });

    world.advance(60_000);

    expect(await world.queues.expire()).toEqual(['q']);
  });

  it('expires once its last job has ended', async () => {
    const world = await setup();
    await declare(world, { topic: '*' }, 60_000);
    await publish(world, 'x', 0);
    world.advance(60_000);

    const before = await world.queues.expire();
    await world.jobs.complete(finalBatchOf(await world.claim()));

    expect([before, await world.queues.expire()]).toEqual([[], ['q']]);
  });

  it('never deletes a job: a job stored at that moment stays, and runs when the queue is used again', async () => {
    const world = await setup();
    const another = await world.connect();
    const isShared = world.store.inMemory;
    await declare(world, { topic: '*' }, 60_000);
    world.advance(60_000);

    // A commit after the read for remaining jobs; SQLite has one writer at a time.
    const late = another.createQueryRunner();
    const canWait = world.store.server.name !== 'sqlite' && !isShared;
    if (canWait) {
      await late.startTransaction();
      await late.query(`INSERT INTO sql_queue_jobs (queue, payload) VALUES ('q', '1')`);
    }
    const expired = await world.queues.expire();
    if (canWait) await late.commitTransaction();
    else await world.put({ payload: '1' });
    await late.release();
    await world.put({ delayMs: 1_000, payload: '2' });

    expect(expired).toEqual(['q']);
    expect(await world.admin.queues()).toEqual([{ queue: 'q', paused: false, expiresAfterMs: null, ...UNLIMITED }]);
    await declare(world, { topic: '*' }, 60_000);
    world.advance(1_000);
    expect((await world.jobs.summarizeWork(['q'])).queues.get('q')).toMatchObject({ waiting: true, paused: false });
    await world.jobs.promote(10);
    expect((await world.jobs.claim(claimRequest({ limit: 9 }))).map(({ payload }) => payload)).toEqual(['1', '2']);
  });

  it('exists with its subscription after a declaration, even if other processes expire it at that time', async () => {
    const world = await setup();
    const others = await Promise.all([world.open(), world.open(), world.open()]);

    for (let round = 0; round < 20; round++) {
      await declare(world, { topic: '*' }, 60_000);
      world.advance(60_000);
      await Promise.all([
        ...others.map(({ queues }) => queues.expire()),
        declare({ ...world, ...others[round % 3]! }, { topic: '*' }, 60_000),
      ]);

      expect(await publish(world, 'x', 0)).toHaveLength(1);
      await world.jobs.complete(finalBatchOf(await world.claim()));
    }
  });
});

describeStoresOf(['mysql', 'mariadb'], 'an expiring temporary queue', (setup) => {
  it.each<[string, (world: World) => Promise<unknown>]>([
    ['was used', ({ queues }) => queues.markUsed(['q'])],
    ['was declared', (world) => declare(world, { topic: '*' }, 60_000)],
    ['was subscribed', (world) => subscribe(world, 'q', { topic: 'x' })],
    ['was paused', ({ admin }) => admin.setPaused(['q'], true)],
    ['received a job', ({ put }) => put({})],
  ])('stays if it %s meanwhile', async (_, happen) => {
    const world = await setup();
    await declare(world, { topic: '*' }, 60_000);
    world.advance(60_000);
    // After the read for expired queues, and before the lock.
    const driver = interceptingDriver(async (sql) => {
      if (/SELECT expires_after_ms.*FOR UPDATE/s.test(sql)) await happen(world);
    });
    const { queues } = await world.open({ dataSource: await world.connect({ driver }) });

    const expired = await queues.expire();

    expect(expired).toEqual([]);
    expect((await world.queues.subscriptions()).map(({ topic }) => topic)).toContain('*');
    expect(await world.queues.markUsed(['q'])).toBe(true);
  });
});

describeStores('a queue without a declaration', (setup) => {
  it('is listed while it has jobs', async () => {
    const { put, admin, claim, jobs } = await setup();
    await put({ queue: 'b' }, { queue: 'a', delayMs: 60_000 }, { queue: 'b' });
    await admin.setPaused(['c'], true);

    const queues = await admin.queues();
    await jobs.complete(finalBatchOf(await claim({ queue: 'b', limit: 9 })));

    expect(queues).toEqual([
      { queue: 'a', paused: false, expiresAfterMs: null, ...UNLIMITED },
      { queue: 'b', paused: false, expiresAfterMs: null, ...UNLIMITED },
      { queue: 'c', paused: true, expiresAfterMs: null, ...UNLIMITED, settings: { paused: true } },
    ]);
    expect((await admin.queues()).map(({ queue }) => queue)).toEqual(['a', 'c']);
  });
});

function publish(world: World, topic: string, payload: unknown, options?: EnqueueOptions & InTransaction) {
  return openProducer(world).publish(topic, payload, options);
}

function subscribe({ queues }: World, queue: string, options: SubscriptionOptions): Promise<void> {
  return queues.subscribe(queue, subscriptionsOf(options));
}

/** Declares queue `q` as a worker does. */
function declare({ queues }: World, options?: SubscriptionOptions, expiresAfterMs: number | null = null) {
  return queues.declare([{ queue: 'q', expiresAfterMs, subscriptions: options ? subscriptionsOf(options) : [] }]);
}

async function stored({ admin }: World) {
  return (await admin.find({}, { order: 'oldest', limit: 100 })).jobs.map(({ id, queue, payload, headers }) => ({
    ...{ id, queue, payload, headers },
  }));
}

function codeOf(error: unknown): unknown {
  return (error as { code: string }).code;
}
