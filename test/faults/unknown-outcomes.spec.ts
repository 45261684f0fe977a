import { behindProxy } from '../support/behind-proxy.js';
import { describeEngines, plain, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { FakeClock } from '../support/fake-clock.js';
import { recordingDriver } from '../support/recording-driver.js';
import { commitsJobs, strikeOnce, type Fate, type Sent } from '../support/wire-proxy.js';

const LOOKS = /FROM sql_queue_producers.*FOR UPDATE/s;

describeEngines(
  'a producer whose connection breaks while it commits',
  (setup) => {
    it.each<Fate>(['cut', 'unheard'])('has put its job in once and says so (%s)', async (fate) => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const { producer } = await world.start({ dataSource, autoStart: false });
      const { struck } = strikeOnce(proxy, fate, commitsJobs);

      const { id } = await producer.enqueue('q', 'one');
      await struck;

      expect(await idsOf(world)).toEqual([id]);
    });

    it.each<[number, Fate]>([
      [20, 'cut'],
      [20, 'unheard'],
      [2_500, 'cut'],
      [2_500, 'unheard'],
    ])('has put %i in, all of them once (%s)', async (count, fate) => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const { producer } = await world.start({ dataSource, autoStart: false });
      const { struck } = strikeOnce(proxy, fate, commitsJobs);

      const jobs = await producer.enqueueMany('q', plain(count));
      await struck;

      expect(await idsOf(world)).toEqual(jobs.map(({ id }) => id));
    });

    it('has put in jobs once whose events are too many to go along with another statement', async () => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const queues = { q: { events: true } } as const;
      const { producer } = await world.start({ queues, dataSource, autoStart: false });
      const { struck } = strikeOnce(proxy, 'unheard', commitsJobs);

      const jobs = await producer.enqueueMany('q', plain(2_500));
      await struck;

      expect(await idsOf(world)).toEqual(jobs.map(({ id }) => id));
    });

    it('has put in a job without a key once that came with one whose key is held', async () => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const { producer } = await world.start({ dataSource, autoStart: false });
      const held = await producer.enqueue('q', 'holds', { key: 'k' });
      const { struck } = strikeOnce(proxy, 'unheard', commitsJobs);

      const jobs = await producer.enqueueMany('q', [{ payload: 'new' }, { payload: 'joins', options: { key: 'k' } }]);
      await struck;

      expect(jobs[1]!.id).toBe(held.id);
      expect(await idsOf(world)).toEqual([held.id, jobs[0]!.id]);
    });

    it('does not put it in again where it has been completed and deleted meanwhile', async () => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const queues = { q: { retention: { completed: false } } } as const;
      const worker = await world.start({ queues, handlers: { q: () => undefined } });
      const { producer } = await world.start({ queues, dataSource, autoStart: false });
      const { struck } = strikeOnce(proxy, 'unheard', commitsJobs, ({ sql }) => (LOOKS.test(sql) ? 'held' : 'pass'));

      const enqueued = producer.enqueue('q', 'one');
      await struck;
      await worker.events.until('completed');
      await eventually(async () => (await idsOf(world)).length === 0);
      await eventually(async () => (await proxy.deliver()) > 0);

      expect((await enqueued).id).toBe(worker.events.jobs('completed')[0]);
      await worker.runner.whenIdle();
      expect(worker.events.of('completed')).toHaveLength(1);
    });

    it('has put it in once where all of it reaches the server after the producer has looked', async () => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const { producer } = await world.start({ dataSource, autoStart: false });
      await producer.enqueue('q', 'zero');
      const { struck } = strikeOnce(proxy, 'late', commitsJobs);

      const enqueued = producer.enqueueMany('q', plain(3));
      await struck;
      const jobs = await enqueued;
      await proxy.deliver();

      expect((await idsOf(world)).slice(1)).toEqual(jobs.map(({ id }) => id));
    });

    // So many that they are put in by several statements, and committed when all of these have been answered.
    it('waits for a COMMIT that is still on its way', async () => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const { producer } = await world.start({ dataSource, autoStart: false });
      const { struck } = strikeOnce(proxy, 'late', commitsJobs);
      let isSettled = false;

      const enqueued = producer.enqueueMany('q', plain(2_500)).finally(() => (isSettled = true));
      await struck;
      await blockedLook(world);
      expect(isSettled).toBe(false);
      await proxy.deliver();
      const jobs = await enqueued;

      expect(await idsOf(world)).toEqual(jobs.map(({ id }) => id));
    });

    it('puts it in again where the COMMIT was lost on its way', async () => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const { producer } = await world.start({ dataSource, autoStart: false });
      const { struck } = strikeOnce(proxy, 'late', commitsJobs);

      const enqueued = producer.enqueueMany('q', plain(2_500));
      await struck;
      await blockedLook(world);
      proxy.lose();
      const jobs = await enqueued;

      expect(await idsOf(world)).toEqual(jobs.map(({ id }) => id));
    });

    it('has put it in once where the opening of its line reaches the server again before the producer looks', async () => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const { producer } = await world.start({ dataSource, autoStart: false });
      let commits = 0;
      let looking!: () => void;
      const looks = new Promise<void>((resolve) => (looking = resolve));
      strikeOnce(proxy, 'late', opensLine, (sent) => {
        if (commitsJobs(sent)) return commits++ === 0 ? 'unheard' : 'pass';
        if (!LOOKS.test(sent.sql)) return 'pass';
        looking();
        return 'held';
      });

      const enqueued = producer.enqueue('q', 'one');
      await looks;
      await proxy.deliver();

      expect(await idsOf(world)).toEqual([(await enqueued).id]);
    });

    it('has put it in once where both that and the job reach the server after the producer has looked', async () => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const { producer } = await world.start({ dataSource, autoStart: false });
      let commits = 0;
      strikeOnce(proxy, 'late', opensLine, (sent) => (commitsJobs(sent) && commits++ === 0 ? 'late' : 'pass'));

      const { id } = await producer.enqueue('q', 'one');
      expect(await proxy.deliver()).toBe(2);

      expect(await idsOf(world)).toEqual([id]);
    });

    it('looks again where the answer to its look is lost too', async () => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const { producer } = await world.start({ dataSource, autoStart: false });
      let lost = 0;
      const endsLook = ({ sql, transaction }: Sent) =>
        sql.includes('COMMIT') && transaction.some((each) => LOOKS.test(each));
      strikeOnce(proxy, 'unheard', commitsJobs, (sent) => (endsLook(sent) && ++lost <= 2 ? 'unheard' : 'pass'));

      const { id } = await producer.enqueue('q', 'one');

      expect(lost).toBe(3);
      expect(await idsOf(world)).toEqual([id]);
    });

    it('says that it does not know where the database stays away for a minute', async () => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const storeClock = new FakeClock();
      const { producer } = await world.start({ dataSource, storeClock, autoStart: false });
      const { struck } = strikeOnce(proxy, 'unheard', commitsJobs);

      const enqueued = producer.enqueue('q', 'one');
      const refused = enqueued.catch((error: unknown) => error);
      await struck;
      await proxy.close();
      while ((await Promise.race([refused, storeClock.advance(2_000)])) === undefined);

      expect(await refused).toMatchObject({ code: 'STORE_UNAVAILABLE', outcome: 'unknown' });
      expect(await idsOf(world)).toHaveLength(1);
    }, 30_000);
  },
  ['mysql', 'mariadb'],
);

describeEngines(
  'a producer',
  (setup) => {
    it('goes on where something in front of the server takes one statement at a time', async () => {
      const world = await setup();
      const sent: string[] = [];
      const driver = recordingDriver((sql) => Promise.resolve(void sent.push(sql)));
      const { producer } = await world.start({ dataSource: await world.connect({ driver }), autoStart: false });

      const jobs = await producer.enqueueMany('q', plain(3));

      expect(sent.filter((sql) => /^(START|COMMIT)/.test(sql))).toContain('COMMIT');
      expect(await idsOf(world)).toEqual(jobs.map(({ id }) => id));
    });

    it('whose lines have gone back to an earlier state goes on', async () => {
      const world = await setup();
      const { producer } = await world.start({ autoStart: false });
      const first = await producer.enqueue('q', 'one');
      await world.sql('UPDATE sql_queue_producers SET number = 0');

      const second = await producer.enqueue('q', 'two');

      expect(await idsOf(world)).toEqual([first.id, second.id]);
    });

    it('that was silent for so long that it was forgotten goes on', async () => {
      const world = await setup();
      const { producer } = await world.start({ autoStart: false });
      const first = await producer.enqueue('q', 'one');
      await world.sql('DELETE FROM sql_queue_producers');

      const second = await producer.enqueue('q', 'two');

      expect(await idsOf(world)).toEqual([first.id, second.id]);
    });

    it('leaves nothing of its own behind when it ends', async () => {
      const world = await setup();
      const engine = await world.start({ autoStart: false });
      await Promise.all([engine.producer.enqueue('q', 0), engine.producer.enqueueMany('q', plain(2_000))]);
      expect(await world.sql('SELECT id FROM sql_queue_producers')).not.toEqual([]);

      await engine.close();

      expect(await world.sql('SELECT id FROM sql_queue_producers')).toEqual([]);
    });

    it('that was killed is forgotten after a day', async () => {
      const world = await setup();
      await world.start({ autoStart: false });
      await world.sql(
        'INSERT INTO sql_queue_producers (id, number, first_id, id_step, seen_at) VALUES (1, 1, 1, 1, ?)',
        [await world.now()],
      );
      const worker = () => world.start({ handlers: { q: () => undefined } });

      await worker();
      expect(await world.sql('SELECT id FROM sql_queue_producers')).toHaveLength(1);
      world.advance(86_400_001);
      await worker();

      expect(await world.sql('SELECT id FROM sql_queue_producers')).toEqual([]);
    });
  },
  ['mysql', 'mariadb'],
);

function opensLine({ sql }: Sent): boolean {
  return sql.includes('INSERT INTO sql_queue_producers');
}

async function idsOf({ sql }: World): Promise<number[]> {
  return (await sql<{ id: string }>('SELECT id FROM sql_queue_jobs ORDER BY id')).map(({ id }) => Number(id));
}

/** Resolves when somebody waits for the row in which an enqueue under way is counted. */
async function blockedLook({ sql }: World): Promise<void> {
  await eventually(async () => {
    const rows = await sql<{ info: string | null }>('SELECT info FROM information_schema.processlist');
    return rows.some(({ info }) => info !== null && LOOKS.test(info));
  });
}
