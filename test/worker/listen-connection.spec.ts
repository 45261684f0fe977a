import { randomBytes } from 'node:crypto';
import { describeEngines, gate, plainJobs, connectionThrough, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { FakeClock } from '../support/fake-clock.js';
import { interceptingDriver } from '../support/intercepting-driver.js';
import { WireProxy } from '../support/wire-proxy.js';

const RARE_POLL = { poll: { min: '1h', max: '1h' } } as const;
// The random number of these engines is 0.5, and jitter makes a poll interval up to a fifth longer.
const JITTERED = 1 + 0.2 * 0.5;
const LISTENER_MARKER = 'SELECT /* sql_queue_jobs listen';

describeEngines(
  'the connection that listens for a worker',
  (setup) => {
    const handlers = { q: () => 'done' };

    /** Returns the ids of the connections that listen, from the server's process list. */
    async function listeners({ sql }: World): Promise<number[]> {
      const rows = await sql<{ id: number }>(
        `SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND LEFT(info, ?) = ?`,
        [LISTENER_MARKER.length, LISTENER_MARKER],
      );
      return rows.map(({ id }) => Number(id));
    }

    async function proxied(world: World): Promise<{ proxy: WireProxy; connection: object }> {
      const proxy = await WireProxy.open(world.server.url);
      world.afterTest(() => proxy.close());
      return { proxy, connection: connectionThrough(world.connection, proxy.port) };
    }

    it('is the only connection that a notification can interrupt, even if another one now has its id', async () => {
      const world = await setup();
      const worker = await world.start({ handlers, worker: RARE_POLL });
      await worker.workerChannel.untilListening();
      const bystanders = await world.connect();
      const name = randomBytes(8).toString('hex');
      const holder = bystanders.createQueryRunner();
      await holder.query(`SELECT GET_LOCK('${name}', 0)`);
      const waits = `GET_LOCK('${name}', 30) + RELEASE_LOCK('${name}') AS got`;
      const waiting: Promise<unknown>[] = [];
      let gone = () => {};
      const aimed = new Promise<void>((resolve) => (gone = resolve));
      const driver = interceptingDriver(async (sql) => {
        if (!/^\s*KILL/.test(sql)) return;
        await worker.runner.stop();
        waiting.push(...Array.from({ length: 5 }, () => bystanders.query(`SELECT ${waits}`)));
        gone();
      });
      const { producer, workerChannel } = await world.start({
        dataSource: await world.connect({ driver }),
        autoStart: false,
      });

      // This marker names the id of another connection, as it would behind a proxy that shares connections.
      waiting.push(bystanders.query(`${LISTENER_MARKER} 1 * */ ${waits}`));
      await eventually(async () => (await listeners(world)).length === 2);
      await producer.enqueue('q', 0);
      await aimed;
      await workerChannel.close();
      await holder.query(`SELECT RELEASE_LOCK('${name}')`);

      expect(await Promise.all(waiting)).toEqual(waiting.map(() => [{ got: expect.anything() as unknown }]));
      await holder.release();
    });

    it('is opened again after an administrator kills it', async () => {
      const world = await setup();
      const clock = new FakeClock();
      const { workerChannel, events, log } = await world.start({ clock, handlers, worker: RARE_POLL });
      const { producer } = await world.start({ autoStart: false });
      await workerChannel.untilListening();
      const [id] = await listeners(world);
      const { listenCount } = workerChannel;

      await world.sql(`KILL CONNECTION ${id}`);
      await clock.untilSleeping(1_000 * JITTERED);
      await clock.advance(1_000 * JITTERED);
      await workerChannel.untilListenCount(listenCount + 1);
      await producer.enqueue('q', 0);
      await events.until('completed');

      expect(await listeners(world)).not.toContain(id);
      expect(log).toEqual([]);
    });

    it('misses no job that arrives just before it starts to listen', async () => {
      const world = await setup();
      let marks = 0;
      const driver = interceptingDriver(async (sql) => {
        // The first marker only tests whether a notification arrives.
        if (!sql.includes(LISTENER_MARKER) || ++marks !== 2) return;
        await worker.runner.whenIdle();
        const { producer, workerChannel } = await world.start({ autoStart: false });
        await producer.enqueue('q', 0);
        await workerChannel.close();
      });
      const dataSource = await world.connect({ driver });

      const worker = await world.start({ dataSource, handlers, worker: RARE_POLL });

      await worker.events.until('completed');
    });

    it('is gone from the server when the worker has stopped', async () => {
      const world = await setup();
      let interrupts = 0;
      let connection: { stream?: { destroyed: boolean } } = {};
      const driver = interceptingDriver((sql, _run, sender) => {
        if (sql.startsWith(LISTENER_MARKER)) connection = sender;
        if (/^\s*KILL/.test(sql)) interrupts++;
        return Promise.resolve();
      });
      const dataSource = await world.connect({ driver });
      const { runner, workerChannel } = await world.start({ dataSource, handlers, worker: RARE_POLL });
      await workerChannel.untilListening();
      expect(await listeners(world)).toHaveLength(1);
      interrupts = 0;

      await runner.stop();

      // After a second without an answer to the interrupt, the worker closes the connection.
      expect(interrupts > 0 || connection.stream?.destroyed).toBe(true);
      // The server may list the statement for a moment after its answer.
      await eventually(async () => (await listeners(world)).length === 0);
    });

    it('is opened again when the worker starts again', async () => {
      const world = await setup();
      const { runner, workerChannel, events } = await world.start({ handlers, worker: RARE_POLL });
      const { producer } = await world.start({ autoStart: false });
      await workerChannel.untilListening();

      await runner.stop();
      const { listenCount } = workerChannel;
      await runner.start();
      await workerChannel.untilListenCount(listenCount + 1);
      await producer.enqueue('q', 0);

      await events.until('completed');
    });

    it('does not block an ALTER TABLE', async () => {
      const world = await setup();
      const { workerChannel } = await world.start({ handlers, worker: RARE_POLL });
      await workerChannel.untilListening();
      const listening = await listeners(world);

      await world.sql(`ALTER TABLE sql_queue_jobs COMMENT = 'changed'`);

      expect(await listeners(world)).toEqual(listening);
    });

    it('is not opened if notifications are off', async () => {
      const world = await setup();
      const statements: string[] = [];
      const driver = interceptingDriver((sql) => Promise.resolve(void statements.push(sql)));
      const dataSource = await world.connect({ driver });
      const { producer, events } = await world.start({ dataSource, handlers, worker: { notify: false } });

      await producer.enqueueMany('q', plainJobs(20));
      await events.untilCount(20, 'completed');

      expect(statements.filter((sql) => / listen |processlist|KILL/.test(sql))).toEqual([]);
    });

    it('is given up with one log line if a proxy changes connection ids, and polls find the jobs', async () => {
      const world = await setup();
      const { proxy, connection } = await proxied(world);
      proxy.shiftConnectionIds(1_000_000);
      // A fake clock saves waiting, since only a timeout shows that no notification arrives.
      const clock = new FakeClock();
      const worker = await world.start({
        dataSource: await world.connect(connection),
        storeClock: clock,
        handlers,
      });
      const { producer } = await world.start({ autoStart: false });

      await clock.untilSleeping(5_000);
      for (let ms = 0; ms < 5_000; ms += 100) await clock.advance(100);
      await eventually(() => worker.log.length > 0);
      await producer.enqueue('q', 0);
      await worker.events.until('completed');

      expect(worker.log).toEqual([
        'log: Other processes cannot wake this one (the process list does not show the listening connection): it finds their jobs ' +
          'by polling, within 0.02 s (`worker.poll.max`). `worker: { notify: false }` keeps it from trying.',
      ]);
    });

    it('is given up with one log line if it always breaks, and polls find the jobs', async () => {
      const world = await setup();
      const { proxy, connection } = await proxied(world);
      proxy.onStatement(({ sql }) => (sql.includes(LISTENER_MARKER) ? 'cut' : 'pass'));
      const worker = await world.start({ dataSource: await world.connect(connection), handlers });
      const { producer } = await world.start({ autoStart: false });

      await eventually(() => worker.log.length > 0);
      await producer.enqueue('q', 0);
      await worker.events.until('completed');

      expect(worker.log).toEqual([expect.stringMatching(/^log: Other processes cannot wake this one \(.*lost.*\)/)]);
    });

    it('causes no lost job if it falls silent without an error', async () => {
      const world = await setup();
      const { proxy, connection } = await proxied(world);
      const worker = await world.start({ dataSource: await world.connect(connection), handlers });
      await worker.workerChannel.untilListening();
      const { producer } = await world.start({ autoStart: false });
      proxy.onStatement(({ sql }) => (sql.includes(LISTENER_MARKER) ? 'silent' : 'pass'));

      for (let count = 1; count <= 5; count++) {
        await producer.enqueue('q', 0);
        await worker.events.untilCount(count, 'completed');
      }

      await worker.runner.stop();
    });

    it('is invisible to other accounts, and polls find their jobs', async () => {
      const world = await setup();
      const { connection } = await accounts(world);
      const worker = await world.start({ dataSource: await world.connect(connection('worker')), handlers });
      const { producer, log } = await world.start({
        dataSource: await world.connect(connection('producer')),
        autoStart: false,
      });

      await worker.workerChannel.untilListening();
      await producer.enqueue('q', 0);
      await worker.events.until('completed');

      expect([...log, ...worker.log]).toEqual([]);
    });

    it('is skipped by a producer whose account can see it but not interrupt it', async () => {
      const world = await setup();
      const { rights, connection } = await accounts(world);
      await rights('GRANT PROCESS ON *.* TO', 'producer');
      const settings = { handlers, worker: RARE_POLL };
      const beyond = await world.start({ ...settings, dataSource: await world.connect(connection('worker')) });
      await beyond.runner.whenIdle();
      await beyond.workerChannel.untilListening('q');
      beyond.workerChannel.received.length = 0;
      const dataSource = await world.connect(connection('producer'));
      const near = await world.start({ ...settings, dataSource });
      await near.workerChannel.untilListening();
      await near.runner.whenIdle();
      const { producer } = await world.start({ dataSource, autoStart: false });

      for (let count = 1; count <= 10; count++) {
        await producer.enqueue('q', 0);
        await near.events.untilCount(count, 'completed');
      }

      // It listens anew every 20 s.
      expect(beyond.workerChannel.received.filter((each) => each !== 'none')).toEqual([]);
    });

    /** Creates two accounts with all rights on the test's database and no others. */
    async function accounts({ sql, connection, afterTest }: World) {
      const salt = randomBytes(4).toString('hex');
      const rights = (statement: string, who: string) => sql(`${statement} '${who}_${salt}'@'%'`);
      for (const who of ['worker', 'producer']) {
        await rights('CREATE USER', who);
        afterTest(() => rights('DROP USER', who));
        const [{ name }] = (await sql<{ name: string }>('SELECT DATABASE() AS name')) as [{ name: string }];
        await rights(`GRANT ALL ON ${name}.* TO`, who);
      }
      const as = (who: string) => {
        const url = new URL((connection as { url: string }).url);
        url.username = `${who}_${salt}`;
        return { url: url.href };
      };
      return { rights, connection: as };
    }

    it('is restarted after ever longer intervals if notifications announce no work', async () => {
      const world = await setup();
      const clock = new FakeClock();
      const worker = { poll: { min: '100ms', max: '800ms' } } as const;
      const { workerChannel } = await world.start({ clock, handlers, worker });
      const elsewhere = await world.start({ autoStart: false });
      await workerChannel.untilListening();
      // From here on the poll interval is at its maximum, so every other sleep belongs to the listener.
      for (const rest of [200, 400, 800]) {
        await clock.untilSleeping(rest * JITTERED);
        await clock.advance(rest * JITTERED);
      }
      await workerChannel.untilListening();

      const { listenCount } = workerChannel;
      elsewhere.workerChannel.notify('q', 1);
      await workerChannel.untilListenCount(listenCount + 1);
      for (const [index, rest] of [100, 200, 400].map((ms) => ms * JITTERED).entries()) {
        const times = workerChannel.listenCount;
        elsewhere.workerChannel.notify('q', 1);
        await workerChannel.untilReceived(index + 2);
        await clock.untilSleeping(rest);
        const { workerChannel: noisy } = await world.start({ autoStart: false });
        for (let ring = 0; ring < 20; ring++) noisy.notify('q', 1);
        await noisy.close();
        await clock.advance(rest - 1);
        expect(workerChannel.listenCount).toBe(times);
        await clock.advance(1);
        await workerChannel.untilListenCount(times + 1);
      }
    });
  },
  ['mysql', 'mariadb'],
);

describeEngines(
  'a producer',
  (setup) => {
    it('reads the listeners at most every 20 ms while there are none, and does so after the last job too', async () => {
      const world = await setup();
      const clock = new FakeClock();
      const looks: string[] = [];
      const driver = interceptingDriver((sql) => Promise.resolve(void (/LEFT\(info/.test(sql) && looks.push(sql))));
      const { producer } = await world.start({
        dataSource: await world.connect({ driver }),
        storeClock: clock,
        autoStart: false,
      });
      await producer.enqueue('q', 0);
      await clock.untilSleeping(20);

      for (let job = 0; job < 50; job++) await producer.enqueue('q', 0);
      expect(looks).toHaveLength(1);
      await clock.advance(20);
      await clock.untilSleeping(20);

      expect(looks).toHaveLength(2);
    });

    it('reads the listeners once, while the job is being committed, if its last read found one', async () => {
      const world = await setup();
      const worker = await world.start({ handlers: { q: () => 'done' }, worker: RARE_POLL });
      const looks: string[] = [];
      let isHeldUp = false;
      const driver = interceptingDriver(async (sql) => {
        if (/LEFT\(info/.test(sql)) looks.push(sql);
        if (isHeldUp && /COMMIT\b/.test(sql)) await eventually(() => looks.length === 2);
      });
      const { producer } = await world.start({
        dataSource: await world.connect({ driver }),
        // A clock that stands still keeps the list of listeners from going stale.
        storeClock: new FakeClock(),
        autoStart: false,
      });
      await worker.workerChannel.untilListening();
      const { listenCount } = worker.workerChannel;
      await producer.enqueue('q', 0);
      await worker.events.until('completed');
      await worker.workerChannel.untilListenCount(listenCount + 1);
      // While it claims, it may listen to no queue.
      await worker.workerChannel.untilListening('q');

      isHeldUp = true;
      await producer.enqueue('q', 1);
      await worker.events.untilCount(2, 'completed');

      expect(looks).toHaveLength(2);
    });

    /**
     * Returns a producer that has notified `worker` and therefore reads the listeners ahead of its commit. `late`
     * starts to listen during the next commit, after that read.
     */
    async function lookingAhead(world: World) {
      const settings = { handlers: { q: () => 'done' }, worker: RARE_POLL };
      const worker = await world.start(settings);
      const looks: string[] = [];
      let committing: (() => Promise<void>) | undefined;
      let enqueuing: object | undefined;
      const driver = interceptingDriver(
        async (sql, _run, connection) => {
          if (sql.includes('INSERT INTO sql_queue_jobs')) enqueuing = connection;
          if (/COMMIT\b/.test(sql) && connection === enqueuing) await committing?.();
        },
        (sql) => void (/LEFT\(info/.test(sql) && looks.push(sql)),
      );
      const { producer } = await world.start({
        dataSource: await world.connect({ driver }),
        // A clock that stands still keeps the list of listeners from going stale.
        storeClock: new FakeClock(),
        autoStart: false,
      });
      await worker.workerChannel.untilListening();
      const { listenCount } = worker.workerChannel;
      await producer.enqueue('q', 0);
      await worker.events.until('completed');
      await worker.workerChannel.untilListenCount(listenCount + 1);
      // While it claims, it may listen to no queue.
      await worker.workerChannel.untilListening('q');
      const late = new Promise<Awaited<ReturnType<World['start']>>>((resolve) => {
        committing = async () => {
          committing = undefined;
          await eventually(() => looks.length === 2);
          const other = await world.start(settings);
          await other.workerChannel.untilListening();
          await other.runner.whenIdle();
          resolve(other);
        };
      });
      return { worker, producer, looks, late };
    }

    it('notifies a worker that began to listen after its read of the listeners', async () => {
      const { worker, producer, looks, late } = await lookingAhead(await setup());
      await worker.runner.stop();

      await producer.enqueue('q', 0);
      await (await late).events.until('completed');

      expect(looks).toHaveLength(3);
    });

    it('also notifies a worker that began to listen after its read of the listeners, if there are two jobs', async () => {
      const { producer, late } = await lookingAhead(await setup());

      await producer.enqueueMany('q', plainJobs(2));
      const { workerChannel } = await late;
      await workerChannel.untilReceived(1);

      expect(workerChannel.received).toEqual(['wake-up']);
    });

    it('has one read of the listeners under way at a time while the database does not answer', async () => {
      const world = await setup();
      const worker = await world.start({ handlers: { q: () => 'done' }, worker: RARE_POLL });
      const clock = new FakeClock();
      const looks: string[] = [];
      const answer = gate();
      let isSilent = false;
      const driver = interceptingDriver(async (sql) => {
        if (!/LEFT\(info/.test(sql)) return;
        looks.push(sql);
        if (isSilent) await answer.opened;
      });
      const elsewhere = await world.start({
        dataSource: await world.connect({ driver }),
        storeClock: clock,
        autoStart: false,
      });
      await worker.workerChannel.untilListening();
      const { listenCount } = worker.workerChannel;
      await elsewhere.producer.enqueue('q', 0);
      await worker.events.until('completed');
      await worker.workerChannel.untilListenCount(listenCount + 1);
      // While it claims, it may listen to no queue.
      await worker.workerChannel.untilListening('q');

      isSilent = true;
      for (let turn = 1; turn <= 5; turn++) {
        elsewhere.workerChannel.prepare();
        await eventually(() => looks.length === 2);
        await new Promise((resolve) => setImmediate(resolve));
        await clock.advance(1_000);
      }
      answer.open();

      expect(looks).toHaveLength(2);
    });

    it('stores its jobs without an error if a notification fails', async () => {
      const world = await setup();
      const driver = interceptingDriver((sql) =>
        /processlist/.test(sql) ? Promise.reject(new Error('not today')) : Promise.resolve(),
      );
      const { producer, workerChannel, log } = await world.start({
        dataSource: await world.connect({ driver }),
        autoStart: false,
      });

      const jobs = await producer.enqueueMany('q', plainJobs(3));
      await workerChannel.close();

      expect(jobs).toHaveLength(3);
      expect(log).toEqual([]);
    });

    it('waits for no notification, neither when it enqueues nor when it closes', async () => {
      const world = await setup();
      let asked = () => {};
      const ringing = new Promise<void>((resolve) => (asked = resolve));
      const driver = interceptingDriver((sql) => {
        if (!/LEFT\(info/.test(sql)) return Promise.resolve();
        asked();
        return new Promise(() => {});
      });
      const clock = new FakeClock();
      const { producer, workerChannel } = await world.start({
        dataSource: await world.connect({ driver }),
        ...{ clock, storeClock: clock },
        autoStart: false,
      });

      await producer.enqueue('q', 0);
      await ringing;
      await producer.enqueue('q', 0);
      const closing = workerChannel.close();
      await clock.untilSleeping(1_000);
      await clock.advance(1_000);
      await closing;
    });
  },
  ['mysql', 'mariadb'],
);
