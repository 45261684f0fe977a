import { subscriptionsOf } from '../../lib/job/topics.js';
import { describeEngines } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { everyFault } from '../support/every-fault.js';
import { processesOf } from '../support/processes.js';
import { producerOn } from '../support/producer-on.js';
import { FAULTS, openFaulty, SENDING } from '../support/store-faults.js';
import { describeStoresOf } from '../support/stores.js';
import { stubborn } from '../support/stubborn.js';

const MESSAGES = 10_000;
const IN_ONE_TRANSACTION = 50;
// Every so many transactions one rolls back.
const ROLLED_BACK = 5;

describeEngines('a subscriber whose process was killed', (setup, { name }) => {
  it('gets each of 10,000 messages once when it returns, and none that was rolled back', async () => {
    const world = await setup();
    const processes = await processesOf(world);
    const { producer, admin } = await world.start({ autoStart: false });
    const subscription = { topic: 'user.*', where: { region: 'eu' } };
    const killed = await processes.worker({ subscription, tell: ['completed'] });
    await producer.publish('user.created', {}, { headers: { region: 'eu' } });
    await killed.events.until('completed');
    await killed.kill();
    processes.died(killed);

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
    const seen = rows.map(({ payload }) => (JSON.parse(payload) as { n?: number }).n ?? -1);
    expect(seen.sort((a, b) => a - b)).toEqual([-1, ...committed.sort((a, b) => a - b)]);
  }, 180_000);
});

describe.each(SENDING)('with statements sent $sent,', ({ multipleStatements }) => {
  describeStoresOf(['mysql', 'mariadb'], 'a connection that fails', (setup) => {
    it.each(FAULTS)(
      'at any statement (%s) of publishing has each copy in once, or has none and says so',
      async (fault) => {
        const world = await setup();
        const { arm, disarm, ...opened } = await openFaulty(world, { multipleStatements });
        for (const queue of ['a', 'b', 'c']) await world.queues.subscribe(queue, subscriptionsOf({ topic: '*' }));

        const faults = await everyFault(async (failAt) => {
          await world.sql('DELETE FROM sql_queue_jobs');
          arm(fault, failAt);
          const answer = await producerOn(opened)
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

    it.each(FAULTS)('at any statement (%s) of what is known of queues leaves known what was said', async (fault) => {
      const world = await setup();
      const { queues, arm, disarm } = await openFaulty(world, { multipleStatements });
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
        await stubborn(() => queues.declare(declared(['a', 'b'], 'eu')));
        await stubborn(() => queues.declare(declared(['b', 'c'], 'us')));
        await stubborn(() => queues.use(['live']));
        await stubborn(() => queues.subscribe('by-hand', subscriptionsOf({ topic: ['x', 'y'] })));
        await stubborn(() => queues.unsubscribe('by-hand', 'x'));
        await stubborn(() => queues.expire());
        await stubborn(() => queues.subscriptions());
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
    });
  });
});
