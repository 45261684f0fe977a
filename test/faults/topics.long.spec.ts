import { subscriptionsOf } from '../../lib/job/topics.js';
import { describeEngines } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { everyFault } from '../support/every-fault.js';
import { processesOf } from '../support/processes.js';
import { openProducer } from '../support/open-producer.js';
import { CHOSEN_FAULTS, FAULTS, openFaultyStore, SEND_MODES } from '../support/store-faults.js';
import { describeStoresOf } from '../support/stores.js';
import { retryWhileUnavailable } from '../support/retry-while-unavailable.js';
import { isLongSet, mainly } from '../support/servers.js';

const MESSAGES = isLongSet ? 2_500 : 10_000;
const IN_ONE_TRANSACTION = 50;
// One of this many transactions rolls back.
const ROLLED_BACK = 5;

describeEngines('a subscriber with a killed process', (setup, { name }) => {
  it('receives each of thousands of messages once when it returns, and none of a rolled-back transaction', async () => {
    const world = await setup();
    const processes = await processesOf(world);
    const { producer, admin } = await world.start({ autoStart: false });
    const subscription = { topic: 'user.*', where: { region: 'eu' } };
    const killed = await processes.worker({ subscription, forward: ['completed'] });
    await producer.publish('user.created', {}, { headers: { region: 'eu' } });
    await killed.events.until('completed');
    await killed.kill();
    processes.recordDeath(killed);

    const committed: number[] = [];
    let next = 0;
    const publishOn = async (): Promise<void> => {
      if (committed.length >= MESSAGES) return;
      const ids = Array.from({ length: IN_ONE_TRANSACTION }, () => next++);
      const isRolledBack = (ids[0]! / IN_ONE_TRANSACTION) % ROLLED_BACK === 0;
      if (!isRolledBack) committed.push(...ids);
      await world.dataSource
        .transaction(async (manager) => {
          const publisher = producer.withManager(manager);
          for (const n of ids) {
            await publisher.publish('user.created', { n }, { headers: { region: 'eu' } });
            if (n % 100 === 0) await publisher.publish('user.created', { n }, { headers: { region: 'us' } });
          }
          if (isRolledBack) throw new Error('rolled back');
        })
        .catch((error: Error) => expect(error.message).toBe('rolled back'));
      await publishOn();
    };
    // SQLite has one writer at a time.
    await Promise.all(Array.from({ length: name === 'sqlite' ? 1 : 4 }, publishOn));
    const waiting = (await admin.counts('q')).waiting;
    const returned = await processes.worker({ subscription });
    await eventually(async () => (await admin.counts('q')).completed === MESSAGES + 1);
    await returned.stop();

    expect(waiting).toBe(MESSAGES);
    expect(await processes.violations()).toEqual([]);
    const rows = await world.sql<{ payload: string; attempt: number }>(
      'SELECT payload, attempt FROM sql_queue_history',
    );
    expect(rows.filter(({ attempt }) => attempt !== 1)).toEqual([]);
    const numbers = rows.map(({ payload }) => (JSON.parse(payload) as { n?: number }).n ?? -1);
    expect(numbers.sort((a, b) => a - b)).toEqual([-1, ...committed.sort((a, b) => a - b)]);
  });
});

describe.each(SEND_MODES)('with statements sent $sent,', ({ multipleStatements }) => {
  describeStoresOf(mainly('mysql'), 'a store', (setup) => {
    it.each(FAULTS)(
      'stores all copies of a message once or reports none if its connection fails at any statement (%s)',
      async (fault) => {
        const world = await setup();
        const { arm, disarm, ...opened } = await openFaultyStore(world, { multipleStatements });
        for (const queue of ['a', 'b', 'c']) await world.queues.subscribe(queue, subscriptionsOf({ topic: '*' }));

        const faults = await everyFault(async (failAt) => {
          await world.sql('DELETE FROM sql_queue_jobs');
          arm(fault, failAt);
          const answer = await openProducer(opened)
            .publish('user.created', 7)
            .catch((error: unknown) => error);
          const statements = disarm();
          const rows = await world.sql<{ id: string; queue: string }>(
            'SELECT id, queue FROM sql_queue_jobs ORDER BY id',
          );

          const created = { name: 'default', outcome: 'created' };
          const copies = rows.map(({ id, queue }) => ({ id: Number(id), queue, ...created }));
          if (Array.isArray(answer))
            expect({ failAt, copies, count: 3 }).toEqual({ failAt, copies: answer, count: answer.length });
          else expect({ failAt, answer, rows }).toMatchObject({ failAt, answer: { outcome: 'not-done' }, rows: [] });
          return { statements };
        });

        expect(faults).toBeGreaterThanOrEqual(multipleStatements ? 2 : 4);
      },
    );

    it.each(CHOSEN_FAULTS)(
      'keeps all declared queues and subscriptions if its connection fails at any statement (%s)',
      async (fault) => {
        const world = await setup();
        const { queues, arm, disarm } = await openFaultyStore(world, { multipleStatements });
        const declared = (topic: string[], region: string) => [
          { queue: 'live', expiresAfterMs: 60_000, subscriptions: subscriptionsOf({ topic, where: { region } }) },
        ];

        const faults = await everyFault(async (failAt) => {
          for (const table of ['jobs', 'queues', 'subscriptions']) await world.sql(`DELETE FROM sql_queue_${table}`);
          await world.queues.declare([
            { queue: 'gone', expiresAfterMs: 10_000, subscriptions: subscriptionsOf({ topic: '*' }) },
          ]);
          world.advance(20_000);
          arm(fault, failAt);
          await retryWhileUnavailable(() => queues.declare(declared(['a', 'b'], 'eu')));
          await retryWhileUnavailable(() => queues.declare(declared(['b', 'c'], 'us')));
          await retryWhileUnavailable(() => queues.markUsed(['live']));
          await retryWhileUnavailable(() => queues.subscribe('by-hand', subscriptionsOf({ topic: ['x', 'y'] })));
          await retryWhileUnavailable(() => queues.unsubscribe('by-hand', 'x'));
          await retryWhileUnavailable(() => queues.expire());
          await retryWhileUnavailable(() => queues.subscriptions());
          const statements = disarm();

          const known = (await world.queues.subscriptions()).map(({ queue, topic, where }) => [
            queue,
            topic,
            where.region,
          ]);
          expect({ failAt, known }).toEqual({
            failAt,
            known: [
              ['by-hand', 'y', undefined],
              ['live', 'a', 'eu'],
              ['live', 'b', 'us'],
              ['live', 'c', 'us'],
            ],
          });
          expect({ failAt, queues: await world.admin.queues() }).toMatchObject({
            failAt,
            queues: [
              { queue: 'by-hand', expiresAfterMs: null },
              { queue: 'live', expiresAfterMs: 60_000 },
            ],
          });
          return { statements };
        });

        expect(faults).toBeGreaterThan(15);
      },
    );
  });
});
