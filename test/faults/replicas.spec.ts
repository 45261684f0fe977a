import { TABLES } from '../../lib/store/tables/table-names.js';
import { behindProxy } from '../support/behind-proxy.js';
import { describeEngines, type World } from '../support/engines.js';
import { everyLock, everyStrategy, everyVerb } from '../support/every-verb.js';
import { describeStoresOf } from '../support/stores.js';
import { isForReplica, WireProxy } from '../support/wire-proxy.js';

describeEngines(
  'behind a proxy that reads from a replica outside of transactions',
  (setup) => {
    it('a request receives its answer', async () => {
      const { producer } = await startBehindReplica(await setup({ withoutTables: true }));

      const replies = Array.from({ length: 20 }, (_, n) => producer.request('q', n, { timeout: '30s' }));

      expect(await Promise.all(replies)).toEqual(Array.from({ length: 20 }, (_, n) => 2 * n));
    });

    it('a wait, a list and a lookup know the jobs that were enqueued before', async () => {
      const { producer, admin } = await startBehindReplica(await setup({ withoutTables: true }));

      const { id } = await producer.enqueue('q', 21);

      expect(await producer.waitFor(id, { timeout: '30s' })).toBe(42);
      expect(await admin.get(id)).toMatchObject({ state: 'completed', result: 42 });
      expect((await admin.find({ queue: 'q', state: 'completed' })).jobs).toMatchObject([{ id }]);
    });

    it('changes of administrators and keys see the latest commits', async () => {
      const { producer, admin } = await startBehindReplica(await setup({ withoutTables: true }));
      await admin.pause('q');
      const key = { key: 'k', delay: '1h' } as const;

      const first = await producer.enqueue('q', 1, key);
      const second = await producer.enqueue('q', 2, key);

      expect(second).toMatchObject({ id: first.id, outcome: 'existing' });
      expect(await admin.promote({ queue: 'q' })).toBe(1);
      expect(await admin.cancel(first.id)).toBe(true);
      expect(await admin.retry(first.id)).toBe(1);
      await admin.resume('q');
      expect(await producer.waitFor(first.id, { timeout: '30s' })).toBe(2);
    });

    it('a worker is notified of jobs', async () => {
      const world = await setup({ withoutTables: true });
      const { producer, events, workerChannel } = await startBehindReplica(world);
      await workerChannel.untilListening();

      const { id } = await producer.enqueue('q', 1);
      await events.until('completed', { jobId: id });

      expect(events.jobs('completed')).toEqual([id]);
    });
  },
  ['mysql', 'mariadb'],
);

describeStoresOf(['mysql', 'mariadb'], 'no verb', (setup) => {
  it('reads a table outside of a transaction, where a proxy may send it to a replica', async () => {
    const { dataSource, connect, open, advance } = await setup();
    const { url } = dataSource.options as { url: string };
    const proxy = await WireProxy.open(url);
    const proxied = new URL(url);
    proxied.port = String(proxy.port);
    const store = await open({ dataSource: await connect({ url: proxied.href }) });
    const lagging = new Set<string>();
    proxy.onStatement((sent) => {
      if (isForReplica(sent) && sent.sql.includes('sql_queue_')) lagging.add(sent.sql);
      return 'pass';
    });

    await everyVerb(store, advance);
    await everyLock(store);
    await everyStrategy(store);
    await store.jobs.close();
    await proxy.close();

    expect([...lagging]).toEqual([]);
  });
});

/** A worker that doubles numbers. Reads outside of transactions see the tables as they were before all jobs. */
async function startBehindReplica(given: World) {
  await (await given.start({ autoStart: false })).close();
  for (const table of TABLES) {
    await given.sql(`CREATE TABLE lag_queue_${table} LIKE sql_queue_${table}`);
    await given.sql(`INSERT INTO lag_queue_${table} SELECT * FROM sql_queue_${table}`);
  }
  const { world, proxy, dataSource } = await behindProxy(given);
  proxy.onStatement((sent) => (isForReplica(sent) ? 'replica' : 'pass'));
  return world.start({ dataSource, handlers: { q: ({ payload }) => 2 * Number(payload) } });
}
