import { randomBytes } from 'node:crypto';
import { describeEngines, gate, plain, through, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { FakeClock } from '../support/fake-clock.js';
import { recordingDriver } from '../support/recording-driver.js';
import { WireProxy } from '../support/wire-proxy.js';

const HARDLY_EVER = { poll: { min: '1h', max: '1h' } } as const;
// The random number of these engines is 0.5, and a rest is up to a fifth longer.
const JITTERED = 1 + 0.2 * 0.5;
const MARK = 'SELECT /* sql_queue_jobs doorbell';

describeEngines(
  'the connection on which a worker listens',
  (setup) => {
    const handlers = { q: () => 'done' };

    /** Ids of the connections that listen, by the list the server has. */
    async function listeners({ sql }: World): Promise<number[]> {
      const rows = await sql<{ id: number }>(
        `SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND LEFT(info, ?) = ?`,
        [MARK.length, MARK],
      );
      return rows.map(({ id }) => Number(id));
    }

    async function proxied(world: World): Promise<{ proxy: WireProxy; connection: object }> {
      const proxy = await WireProxy.open(world.server.url);
      world.afterTest(() => proxy.close());
      return { proxy, connection: through(world.connection, proxy.port) };
    }

    it('is the only one on the server that a ring can hit, whoever may have its place by then', async () => {
      const world = await setup();
      const worker = await world.start({ handlers, worker: HARDLY_EVER });
      await worker.doorbell.untilListening();
      const bystanders = await world.connect();
      const name = randomBytes(8).toString('hex');
      const holder = bystanders.createQueryRunner();
      await holder.query(`SELECT GET_LOCK('${name}', 0)`);
      const waits = `GET_LOCK('${name}', 30) + RELEASE_LOCK('${name}') AS got`;
      const waiting: Promise<unknown>[] = [];
      let gone = () => {};
      const aimed = new Promise<void>((resolve) => (gone = resolve));
      const driver = recordingDriver(async (sql) => {
        if (!/^\s*KILL/.test(sql)) return;
        await worker.runner.stop();
        waiting.push(...Array.from({ length: 5 }, () => bystanders.query(`SELECT ${waits}`)));
        gone();
      });
      const { producer, doorbell } = await world.start({
        dataSource: await world.connect({ driver }),
        autoStart: false,
      });

      // As somebody's would be who was given another's connection.
      waiting.push(bystanders.query(`${MARK} 1 * */ ${waits}`));
      await eventually(async () => (await listeners(world)).length === 2);
      await producer.enqueue('q', 0);
      await aimed;
      await doorbell.close();
      await holder.query(`SELECT RELEASE_LOCK('${name}')`);

      expect(await Promise.all(waiting)).toEqual(waiting.map(() => [{ got: expect.anything() as unknown }]));
      await holder.release();
    });

    it('is there again after somebody has killed it', async () => {
      const world = await setup();
      const clock = new FakeClock();
      const { doorbell, events, log } = await world.start({ clock, handlers, worker: HARDLY_EVER });
      const { producer } = await world.start({ autoStart: false });
      await doorbell.untilListening();
      const [id] = await listeners(world);

      await world.sql(`KILL CONNECTION ${id}`);
      await clock.resting(1_000 * JITTERED);
      await clock.advance(1_000 * JITTERED);
      await doorbell.untilTimes(2);
      await producer.enqueue('q', 0);
      await events.until('completed');

      expect(await listeners(world)).not.toContain(id);
      expect(log).toEqual([]);
    });

    it('misses no job that comes a moment before it is used', async () => {
      const world = await setup();
      let marks = 0;
      const driver = recordingDriver(async (sql) => {
        // The first one only tries whether a ring arrives.
        if (!sql.includes(MARK) || ++marks !== 2) return;
        await worker.runner.whenIdle();
        const { producer, doorbell } = await world.start({ autoStart: false });
        await producer.enqueue('q', 0);
        await doorbell.close();
      });
      const dataSource = await world.connect({ driver });

      const worker = await world.start({ dataSource, handlers, worker: HARDLY_EVER });

      await worker.events.until('completed');
    });

    it('leaves nothing behind on the server when the worker stops', async () => {
      const world = await setup();
      const { runner, doorbell } = await world.start({ handlers, worker: HARDLY_EVER });
      await doorbell.untilListening();
      expect(await listeners(world)).toHaveLength(1);

      await runner.stop();

      expect(await listeners(world)).toEqual([]);
    });

    it('is there again when the worker starts again', async () => {
      const world = await setup();
      const { runner, doorbell, events } = await world.start({ handlers, worker: HARDLY_EVER });
      const { producer } = await world.start({ autoStart: false });
      await doorbell.untilListening();

      await runner.stop();
      await runner.start();
      await doorbell.untilTimes(2);
      await producer.enqueue('q', 0);

      await events.until('completed');
    });

    it('does not hold up a change of the tables', async () => {
      const world = await setup();
      const { doorbell } = await world.start({ handlers, worker: HARDLY_EVER });
      await doorbell.untilListening();
      const listening = await listeners(world);

      await world.sql(`ALTER TABLE sql_queue_jobs COMMENT = 'changed'`);

      expect(await listeners(world)).toEqual(listening);
    });

    it('is not opened where the doorbell is off', async () => {
      const world = await setup();
      const statements: string[] = [];
      const driver = recordingDriver((sql) => Promise.resolve(void statements.push(sql)));
      const dataSource = await world.connect({ driver });
      const { producer, events } = await world.start({ dataSource, handlers, worker: { doorbell: false } });

      await producer.enqueueMany('q', plain(20));
      await events.untilCount(20, 'completed');

      expect(statements.filter((sql) => /doorbell|processlist|KILL/.test(sql))).toEqual([]);
    });

    it('is given up where somebody in between numbers connections himself; the log says so once, and polls find the jobs', async () => {
      const world = await setup();
      const { proxy, connection } = await proxied(world);
      proxy.renumber(1_000_000);
      // It hurries, since nothing but time shows that nothing comes.
      const clock = new FakeClock();
      const worker = await world.start({
        dataSource: await world.connect(connection),
        storeClock: clock,
        handlers,
      });
      const { producer } = await world.start({ autoStart: false });

      await clock.resting(5_000);
      for (let ms = 0; ms < 5_000; ms += 100) await clock.advance(100);
      await eventually(() => worker.log.length > 0);
      await producer.enqueue('q', 0);
      await worker.events.until('completed');

      expect(worker.log).toEqual([
        'log: Other processes cannot wake this one (the list of processes does not show who listens): it finds their jobs ' +
          'by polling, within 0.02 s (`worker.poll.max`). `worker: { doorbell: false }` keeps it from trying.',
      ]);
    });

    it('is given up where it always breaks; the log says so once, and polls find the jobs', async () => {
      const world = await setup();
      const { proxy, connection } = await proxied(world);
      proxy.decide(({ sql }) => (sql.includes(MARK) ? 'cut' : 'pass'));
      const worker = await world.start({ dataSource: await world.connect(connection), handlers });
      const { producer } = await world.start({ autoStart: false });

      await eventually(() => worker.log.length > 0);
      await producer.enqueue('q', 0);
      await worker.events.until('completed');

      expect(worker.log).toEqual([expect.stringMatching(/^log: Other processes cannot wake this one \(.*lost.*\)/)]);
    });

    it('stands still, and no job is lost, where it falls silent without a word', async () => {
      const world = await setup();
      const { proxy, connection } = await proxied(world);
      const worker = await world.start({ dataSource: await world.connect(connection), handlers });
      await worker.doorbell.untilListening();
      const { producer } = await world.start({ autoStart: false });
      proxy.decide(({ sql }) => (sql.includes(MARK) ? 'silent' : 'pass'));

      for (let count = 1; count <= 5; count++) {
        await producer.enqueue('q', 0);
        await worker.events.untilCount(count, 'completed');
      }

      await worker.runner.stop();
    });

    it('cannot be seen by other accounts: then polls find the jobs', async () => {
      const world = await setup();
      const { connection } = await accounts(world);
      const worker = await world.start({ dataSource: await world.connect(connection('worker')), handlers });
      const { producer, log } = await world.start({
        dataSource: await world.connect(connection('producer')),
        autoStart: false,
      });

      await worker.doorbell.untilListening();
      await producer.enqueue('q', 0);
      await worker.events.until('completed');

      expect([...log, ...worker.log]).toEqual([]);
    });

    it('is passed over where it can be seen and not be interrupted', async () => {
      const world = await setup();
      const { rights, connection } = await accounts(world);
      await rights('GRANT PROCESS ON *.* TO', 'producer');
      const settings = { handlers, worker: HARDLY_EVER };
      const beyond = await world.start({ ...settings, dataSource: await world.connect(connection('worker')) });
      await beyond.doorbell.untilListening();
      const dataSource = await world.connect(connection('producer'));
      const near = await world.start({ ...settings, dataSource });
      await near.doorbell.untilListening();
      await near.runner.whenIdle();
      const { producer } = await world.start({ dataSource, autoStart: false });

      for (let count = 1; count <= 10; count++) {
        await producer.enqueue('q', 0);
        await near.events.untilCount(count, 'completed');
      }

      expect(beyond.doorbell.heard).toEqual([]);
    });

    /** Two accounts that may do all on the test's database, and no more. */
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

    it('is left alone for longer and longer where somebody rings in vain', async () => {
      const world = await setup();
      const clock = new FakeClock();
      const worker = { poll: { min: '100ms', max: '800ms' } } as const;
      const { doorbell } = await world.start({ clock, handlers, worker });
      const elsewhere = await world.start({ autoStart: false });
      await doorbell.untilListening();
      // From here on the poll has its longest rests, and the others are the doorbell's.
      for (const rest of [200, 400, 800]) {
        await clock.resting(rest * JITTERED);
        await clock.advance(rest * JITTERED);
      }
      await doorbell.untilListening();

      elsewhere.doorbell.ring('q', 1);
      await doorbell.untilTimes(2);
      for (const [index, rest] of [100, 200, 400].map((ms) => ms * JITTERED).entries()) {
        const times = doorbell.times;
        elsewhere.doorbell.ring('q', 1);
        await doorbell.untilHeard(index + 2);
        await clock.resting(rest);
        const { doorbell: noisy } = await world.start({ autoStart: false });
        for (let ring = 0; ring < 20; ring++) noisy.ring('q', 1);
        await noisy.close();
        await clock.advance(rest - 1);
        expect(doorbell.times).toBe(times);
        await clock.advance(1);
        await doorbell.untilTimes(times + 1);
      }
    });
  },
  ['mysql', 'mariadb'],
);

describeEngines(
  'a producer',
  (setup) => {
    it('asks who listens once in 20 ms at the most while nobody does, and does not forget the last job', async () => {
      const world = await setup();
      const clock = new FakeClock();
      const looks: string[] = [];
      const driver = recordingDriver((sql) => Promise.resolve(void (/LEFT\(info/.test(sql) && looks.push(sql))));
      const { producer } = await world.start({
        dataSource: await world.connect({ driver }),
        storeClock: clock,
        autoStart: false,
      });
      await producer.enqueue('q', 0);
      await clock.resting(20);

      for (let job = 0; job < 50; job++) await producer.enqueue('q', 0);
      expect(looks).toHaveLength(1);
      await clock.advance(20);
      await clock.resting(20);

      expect(looks).toHaveLength(2);
    });

    it('looks who listens while a job is being committed, and not again, where somebody listened before', async () => {
      const world = await setup();
      const worker = await world.start({ handlers: { q: () => 'done' }, worker: HARDLY_EVER });
      const looks: string[] = [];
      let isHeldUp = false;
      const driver = recordingDriver(async (sql) => {
        if (/LEFT\(info/.test(sql)) looks.push(sql);
        if (isHeldUp && /COMMIT\b/.test(sql)) await eventually(() => looks.length === 2);
      });
      const { producer } = await world.start({
        dataSource: await world.connect({ driver }),
        // However long that takes here, the look does not go out of date.
        storeClock: new FakeClock(),
        autoStart: false,
      });
      await worker.doorbell.untilListening();
      await producer.enqueue('q', 0);
      await worker.events.until('completed');
      await worker.doorbell.untilTimes(2);

      isHeldUp = true;
      await producer.enqueue('q', 1);
      await worker.events.untilCount(2, 'completed');

      expect(looks).toHaveLength(2);
    });

    /** One that has rung for `worker`, and so looks ahead. `late` begins to listen while it next commits, after that look. */
    async function lookingAhead(world: World) {
      const settings = { handlers: { q: () => 'done' }, worker: HARDLY_EVER };
      const worker = await world.start(settings);
      const looks: string[] = [];
      let committing: (() => Promise<void>) | undefined;
      const driver = recordingDriver(
        async (sql) => void (/COMMIT\b/.test(sql) && (await committing?.())),
        (sql) => void (/LEFT\(info/.test(sql) && looks.push(sql)),
      );
      const { producer } = await world.start({
        dataSource: await world.connect({ driver }),
        // However long that takes here, the look does not go out of date.
        storeClock: new FakeClock(),
        autoStart: false,
      });
      await worker.doorbell.untilListening();
      await producer.enqueue('q', 0);
      await worker.events.until('completed');
      await worker.doorbell.untilTimes(2);
      const late = new Promise<Awaited<ReturnType<World['start']>>>((resolve) => {
        committing = async () => {
          committing = undefined;
          await eventually(() => looks.length === 2);
          const other = await world.start(settings);
          await other.doorbell.untilListening();
          await other.runner.whenIdle();
          resolve(other);
        };
      });
      return { worker, producer, looks, late };
    }

    it('rings for whoever began to listen after it had looked', async () => {
      const { worker, producer, looks, late } = await lookingAhead(await setup());
      await worker.runner.stop();

      await producer.enqueue('q', 0);
      await (await late).events.until('completed');

      expect(looks).toHaveLength(3);
    });

    it('rings for one who began to listen after it had looked as well, where there are jobs for two', async () => {
      const { producer, late } = await lookingAhead(await setup());

      await producer.enqueueMany('q', plain(2));
      const { doorbell } = await late;
      await doorbell.untilHeard(1);

      expect(doorbell.heard).toEqual(['ring']);
    });

    it('looks ahead once at a time, however long the database does not answer', async () => {
      const world = await setup();
      const worker = await world.start({ handlers: { q: () => 'done' }, worker: HARDLY_EVER });
      const clock = new FakeClock();
      const looks: string[] = [];
      const answer = gate();
      let isSilent = false;
      const driver = recordingDriver(async (sql) => {
        if (!/LEFT\(info/.test(sql)) return;
        looks.push(sql);
        if (isSilent) await answer.opened;
      });
      const elsewhere = await world.start({
        dataSource: await world.connect({ driver }),
        storeClock: clock,
        autoStart: false,
      });
      await worker.doorbell.untilListening();
      await elsewhere.producer.enqueue('q', 0);
      await worker.events.until('completed');
      await worker.doorbell.untilTimes(2);

      isSilent = true;
      for (let turn = 1; turn <= 5; turn++) {
        elsewhere.doorbell.foresee();
        await eventually(() => looks.length === 2);
        await new Promise((resolve) => setImmediate(resolve));
        await clock.advance(1_000);
      }
      answer.open();

      expect(looks).toHaveLength(2);
    });

    it('does not notice that ringing fails', async () => {
      const world = await setup();
      const driver = recordingDriver((sql) =>
        /processlist/.test(sql) ? Promise.reject(new Error('not today')) : Promise.resolve(),
      );
      const { producer, doorbell, log } = await world.start({
        dataSource: await world.connect({ driver }),
        autoStart: false,
      });

      const jobs = await producer.enqueueMany('q', plain(3));
      await doorbell.close();

      expect(jobs).toHaveLength(3);
      expect(log).toEqual([]);
    });

    it('does not wait for who rings, also when it closes', async () => {
      const world = await setup();
      let asked = () => {};
      const ringing = new Promise<void>((resolve) => (asked = resolve));
      const driver = recordingDriver((sql) => {
        if (!/LEFT\(info/.test(sql)) return Promise.resolve();
        asked();
        return new Promise(() => {});
      });
      const clock = new FakeClock();
      const { producer, doorbell } = await world.start({
        dataSource: await world.connect({ driver }),
        ...{ clock, storeClock: clock },
        autoStart: false,
      });

      await producer.enqueue('q', 0);
      await ringing;
      await producer.enqueue('q', 0);
      const closing = doorbell.close();
      await clock.resting(1_000);
      await clock.advance(1_000);
      await closing;
    });
  },
  ['mysql', 'mariadb'],
);
