import { inspect } from 'node:util';
import { openStore } from '../../lib/store/open-store.js';
import { systemClock } from '../../lib/common/clock.js';
import { behindProxy } from '../support/behind-proxy.js';
import { describeEngines } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { FakeClock } from '../support/fake-clock.js';

const PASSWORD = 'hunter2-of-the-database';
const SECRET = 'card-4111111111111111';

describeEngines('a log line or an error', (setup) => {
  it('contains no part of a payload', async () => {
    const world = await setup();
    const { producer, events, log, runner } = await world.start({
      queues: { q: { retry: { attempts: 2, backoff: 0 } } },
      handlers: { q: () => Promise.reject(new Error('declined')) },
    });
    const thrown: unknown[] = [];
    const refused = (error: unknown) => void thrown.push(error);

    await producer.enqueue('q', { card: SECRET });
    await producer.enqueue('q', { card: SECRET, amount: 10n }).catch(refused);
    await producer.enqueue('q', { amount: NaN, card: SECRET }).catch(refused);
    await producer.enqueue('q', { card: SECRET.repeat(100_000) }).catch(refused);
    await producer.enqueue('q', { card: SECRET }, { delay: -1 }).catch(refused);
    await events.until('dead');
    await runner.whenIdle();

    expect(thrown).toHaveLength(4);
    expect(inspect({ log, thrown, events: events.all }, { depth: 9 })).not.toContain(SECRET);
  });
});

describeEngines(
  'a log line or an error of a database that rejects calls or is unavailable',
  (setup) => {
    it('contains no credentials and no payload', async () => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const account = `'secretive'@'%'`;
      await world.sql(`CREATE USER IF NOT EXISTS ${account} IDENTIFIED BY '${PASSWORD}'`);
      world.afterTest(() => world.sql(`DROP USER ${account}`));
      const thrown: unknown[] = [];
      const url = new URL((dataSource.options as { url: string }).url);
      url.username = 'secretive';
      url.password = PASSWORD;
      const options = { ...dataSource.options, url: url.href };

      // The account may connect, but not use the database.
      const store = openStore({
        ...{ dataSource: { options } as never, clock: systemClock, migrate: 'run' },
        ...{ shortestLeaseMs: 30_000, largestPayloadBytes: 1_000 },
      });
      await store.catch((error: unknown) => thrown.push(error));
      const storeClock = new FakeClock();
      const { producer, log } = await world.start({ dataSource, storeClock, handlers: { q: () => undefined } });
      await producer.enqueue('q', { card: SECRET });
      await proxy.close();
      const refused = producer.enqueue('q', { card: SECRET }).catch((error: unknown) => thrown.push(error));
      while ((await Promise.race([refused, storeClock.advance(2_000)])) === undefined);
      await eventually(() => log.length > 0);

      expect(thrown).toHaveLength(2);
      expect(inspect({ log, messages: thrown.map(String) })).not.toMatch(PASSWORD);
      expect(inspect({ log, thrown }, { depth: 9 })).not.toContain(SECRET);
    });
  },
  ['mysql', 'mariadb'],
);
