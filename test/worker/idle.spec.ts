import { describeEngines } from '../support/engines.js';
import { FakeClock } from '../support/fake-clock.js';
import { interceptingDriver } from '../support/intercepting-driver.js';

// The random number of these engines is 0.5, and jitter makes a poll interval up to a fifth longer.
const REST_MS = 2_000 * (1 + 0.2 * 0.5);
// Whole poll intervals.
const MINUTE_MS = REST_MS * Math.ceil(60_000 / REST_MS);
const LISTENING_A_MINUTE = 3;
const LISTENING = /SLEEP|processlist/;
const FIRST_PRUNED_MS = 30_000;
const PRUNED_EVERY_MS = 60_000;

// A connection's id and queues.
const withoutMark = (sql: string) => sql.replace(/\/\*.*?\*\//, '');

describeEngines(
  'an idle process',
  (setup) => {
    it.each([1, 30])('sends less than one text of statements per second for %i queue(s)', async (count) => {
      const world = await setup();
      const clock = new FakeClock();
      const statements: string[] = [];
      const record = (sql: string) => Promise.resolve(void statements.push(sql));
      const driver = interceptingDriver(record, undefined, { multipleStatements: true });
      const { workerChannel } = await world.start({
        clock,
        dataSource: await world.connect({ driver }),
        worker: { poll: { min: '2s', max: '2s' } },
        handlers: Object.fromEntries(Array.from({ length: count }, (_, index) => [`q${index}`, () => 'done'])),
      });
      const elsewhere = await world.start({ autoStart: false });
      await workerChannel.untilListening();
      await clock.untilSleeping(REST_MS);

      const minute = async (): Promise<void> => {
        for (let ms = 0; ms < MINUTE_MS; ms += REST_MS) {
          await clock.advance(REST_MS);
          await Promise.all([clock.untilSleeping(REST_MS), clock.untilSleeping(PRUNED_EVERY_MS)]);
        }
      };
      await clock.untilSleeping(FIRST_PRUNED_MS);
      await clock.advance(FIRST_PRUNED_MS);
      await Promise.all([clock.untilSleeping(REST_MS), clock.untilSleeping(PRUNED_EVERY_MS)]);
      // The connection pool opens its permanent connections.
      await minute();
      statements.length = 0;
      await minute();
      const polling = statements.splice(0).length;
      // At its start a worker may listen twice: first without the queues whose claims are under way.
      const { listenCount } = workerChannel;
      elsewhere.workerChannel.notifyAll();
      await workerChannel.untilListenCount(listenCount + 1);
      await clock.untilSleeping(REST_MS);
      // Plus one poll. The process list is read until it shows the connection: how often depends on the server.
      const listening = new Set(statements.filter((sql) => LISTENING.test(sql)).map(withoutMark)).size + 1;

      expect(polling).toBeGreaterThan(20);
      expect(listening).toBe(3);
      expect(polling + LISTENING_A_MINUTE * listening).toBeLessThan(MINUTE_MS / 1_000);
    });
  },
  ['mysql', 'mariadb'],
);
