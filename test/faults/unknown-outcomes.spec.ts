import { behindProxy } from '../support/behind-proxy.js';
import { describeEngines, plainJobs, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { FakeClock } from '../support/fake-clock.js';
import { interceptingDriver } from '../support/intercepting-driver.js';
import { commitsJobs, interfereOnce, type ProxyAction, type SentStatement } from '../support/wire-proxy.js';

const LOCKS_COMMIT_LOG = /FROM sql_queue_commit_log.*FOR UPDATE/s;

describeEngines(
  'a producer with a broken connection at its commit',
  (setup) => {
    it.each<ProxyAction>(['cut', 'unanswered'])('stores its job once and reports it (%s)', async (fate) => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const { producer } = await world.start({ dataSource, autoStart: false });
      const { interfered } = interfereOnce(proxy, fate, commitsJobs);

      const { id } = await producer.enqueue('q', 'one');
      await interfered;

      expect(await idsOf(world)).toEqual([id]);
    });

    it.each<[number, ProxyAction]>([
      [20, 'cut'],
      [20, 'unanswered'],
      [2_500, 'cut'],
      [2_500, 'unanswered'],
    ])('stores %i jobs once (%s)', async (count, fate) => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const { producer } = await world.start({ dataSource, autoStart: false });
      const { interfered } = interfereOnce(proxy, fate, commitsJobs);

      const jobs = await producer.enqueueMany('q', plainJobs(count));
      await interfered;

      expect(await idsOf(world)).toEqual(jobs.map(({ id }) => id));
    });

    it('stores jobs once if their events are too many to share a statement', async () => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const queues = { q: { events: true } } as const;
      const { producer } = await world.start({ queues, dataSource, autoStart: false });
      const { interfered } = interfereOnce(proxy, 'unanswered', commitsJobs);

      const jobs = await producer.enqueueMany('q', plainJobs(2_500));
      await interfered;

      expect(await idsOf(world)).toEqual(jobs.map(({ id }) => id));
    });

    it('stores a job without a key once if its batch contains a job whose key is owned already', async () => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const { producer } = await world.start({ dataSource, autoStart: false });
      const held = await producer.enqueue('q', 'holds', { key: 'k' });
      const { interfered } = interfereOnce(proxy, 'unanswered', commitsJobs);

      const jobs = await producer.enqueueMany('q', [{ payload: 'new' }, { payload: 'joins', options: { key: 'k' } }]);
      await interfered;

      expect(jobs[1]!.id).toBe(held.id);
      expect(await idsOf(world)).toEqual([held.id, jobs[0]!.id]);
    });

    it('does not enqueue the job again if it was completed and deleted meanwhile', async () => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const queues = { q: { retention: { completed: false } } } as const;
      const worker = await world.start({ queues, handlers: { q: () => undefined } });
      const { producer } = await world.start({ queues, dataSource, autoStart: false });
      const { interfered } = interfereOnce(proxy, 'unanswered', commitsJobs, ({ sql }) =>
        LOCKS_COMMIT_LOG.test(sql) ? 'held' : 'pass',
      );

      const enqueued = producer.enqueue('q', 'one');
      await interfered;
      await worker.events.until('completed');
      await eventually(async () => (await idsOf(world)).length === 0);
      await eventually(async () => (await proxy.deliverHeld()) > 0);

      expect((await enqueued).id).toBe(worker.events.jobs('completed')[0]);
      await worker.runner.whenIdle();
      expect(worker.events.of('completed')).toHaveLength(1);
    });

    it('stores jobs once if their transaction arrives after the producer has read the commit log', async () => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const { producer } = await world.start({ dataSource, autoStart: false });
      await producer.enqueue('q', 'zero');
      const { interfered } = interfereOnce(proxy, 'late', commitsJobs);

      const enqueued = producer.enqueueMany('q', plainJobs(3));
      await interfered;
      const jobs = await enqueued;
      await proxy.deliverHeld();

      expect((await idsOf(world)).slice(1)).toEqual(jobs.map(({ id }) => id));
    });

    // Enough jobs for several statements. The COMMIT follows when all of them have been answered.
    it('waits for a COMMIT under way', async () => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const { producer } = await world.start({ dataSource, autoStart: false });
      const { interfered } = interfereOnce(proxy, 'late', commitsJobs);
      let isSettled = false;

      const enqueued = producer.enqueueMany('q', plainJobs(2_500)).finally(() => (isSettled = true));
      await interfered;
      await untilCommitLogReadBlocks(world);
      expect(isSettled).toBe(false);
      await proxy.deliverHeld();
      const jobs = await enqueued;

      expect(await idsOf(world)).toEqual(jobs.map(({ id }) => id));
    });

    it('enqueues the jobs again if the COMMIT never reached the server', async () => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const { producer } = await world.start({ dataSource, autoStart: false });
      const { interfered } = interfereOnce(proxy, 'late', commitsJobs);

      const enqueued = producer.enqueueMany('q', plainJobs(2_500));
      await interfered;
      await untilCommitLogReadBlocks(world);
      proxy.dropHeld();
      const jobs = await enqueued;

      expect(await idsOf(world)).toEqual(jobs.map(({ id }) => id));
    });

    it('stores the job once if its commit log row is inserted again before the producer reads it', async () => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const { producer } = await world.start({ dataSource, autoStart: false });
      let commits = 0;
      let onRead!: () => void;
      const read = new Promise<void>((resolve) => (onRead = resolve));
      interfereOnce(proxy, 'late', insertsCommitLogRow, (sent) => {
        if (commitsJobs(sent)) return commits++ === 0 ? 'unanswered' : 'pass';
        if (!LOCKS_COMMIT_LOG.test(sent.sql)) return 'pass';
        onRead();
        return 'held';
      });

      const enqueued = producer.enqueue('q', 'one');
      await read;
      await proxy.deliverHeld();

      expect(await idsOf(world)).toEqual([(await enqueued).id]);
    });

    it('stores the job once if commit log row and job arrive after the producer has read the log', async () => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const { producer } = await world.start({ dataSource, autoStart: false });
      let commits = 0;
      interfereOnce(proxy, 'late', insertsCommitLogRow, (sent) =>
        commitsJobs(sent) && commits++ === 0 ? 'late' : 'pass',
      );

      const { id } = await producer.enqueue('q', 'one');
      expect(await proxy.deliverHeld()).toBe(2);

      expect(await idsOf(world)).toEqual([id]);
    });

    it('reads the commit log again if the answer to that read is lost too', async () => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const { producer } = await world.start({ dataSource, autoStart: false });
      let lost = 0;
      const endsRead = ({ sql, transaction }: SentStatement) =>
        sql.includes('COMMIT') && transaction.some((each) => LOCKS_COMMIT_LOG.test(each));
      interfereOnce(proxy, 'unanswered', commitsJobs, (sent) =>
        endsRead(sent) && ++lost <= 2 ? 'unanswered' : 'pass',
      );

      const { id } = await producer.enqueue('q', 'one');

      expect(lost).toBe(3);
      expect(await idsOf(world)).toEqual([id]);
    });

    it('reports an unknown outcome if the database stays away for a minute', async () => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const storeClock = new FakeClock();
      const { producer } = await world.start({ dataSource, storeClock, autoStart: false });
      const { interfered } = interfereOnce(proxy, 'unanswered', commitsJobs);

      const enqueued = producer.enqueue('q', 'one');
      const refused = enqueued.catch((error: unknown) => error);
      await interfered;
      await proxy.close();
      while ((await Promise.race([refused, storeClock.advance(2_000)])) === undefined);

      expect(await refused).toMatchObject({ code: 'STORE_UNAVAILABLE', outcome: 'unknown' });
      // The server may still execute the commit.
      await eventually(async () => (await idsOf(world)).length === 1);
    });
  },
  ['mysql', 'mariadb'],
);

describeEngines(
  'a producer',
  (setup) => {
    it('enqueues jobs if a layer in front of the server accepts one statement at a time', async () => {
      const world = await setup();
      const sent: string[] = [];
      const driver = interceptingDriver((sql) => Promise.resolve(void sent.push(sql)));
      const { producer } = await world.start({ dataSource: await world.connect({ driver }), autoStart: false });

      const jobs = await producer.enqueueMany('q', plainJobs(3));

      expect(sent.filter((sql) => /^(START|COMMIT)/.test(sql))).toContain('COMMIT');
      expect(await idsOf(world)).toEqual(jobs.map(({ id }) => id));
    });

    it('enqueues jobs after its commit log was reset to an earlier state', async () => {
      const world = await setup();
      const { producer } = await world.start({ autoStart: false });
      const first = await producer.enqueue('q', 'one');
      await world.sql('UPDATE sql_queue_commit_log SET number = 0');

      const second = await producer.enqueue('q', 'two');

      expect(await idsOf(world)).toEqual([first.id, second.id]);
    });

    it('enqueues jobs after its commit log rows were deleted', async () => {
      const world = await setup();
      const { producer } = await world.start({ autoStart: false });
      const first = await producer.enqueue('q', 'one');
      await world.sql('DELETE FROM sql_queue_commit_log');

      const second = await producer.enqueue('q', 'two');

      expect(await idsOf(world)).toEqual([first.id, second.id]);
    });

    it('deletes its commit log rows when it ends', async () => {
      const world = await setup();
      const engine = await world.start({ autoStart: false });
      await Promise.all([engine.producer.enqueue('q', 0), engine.producer.enqueueMany('q', plainJobs(2_000))]);
      expect(await world.sql('SELECT id FROM sql_queue_commit_log')).not.toEqual([]);

      await engine.close();

      expect(await world.sql('SELECT id FROM sql_queue_commit_log')).toEqual([]);
    });

    it('loses its commit log rows a day after it was killed', async () => {
      const world = await setup();
      await world.start({ autoStart: false });
      await world.sql(
        'INSERT INTO sql_queue_commit_log (id, number, first_id, id_step, seen_at) VALUES (1, 1, 1, 1, ?)',
        [await world.now()],
      );
      const worker = () => world.start({ handlers: { q: () => undefined } });

      await worker();
      expect(await world.sql('SELECT id FROM sql_queue_commit_log')).toHaveLength(1);
      world.advance(86_400_001);
      await worker();

      expect(await world.sql('SELECT id FROM sql_queue_commit_log')).toEqual([]);
    });
  },
  ['mysql', 'mariadb'],
);

function insertsCommitLogRow({ sql }: SentStatement): boolean {
  return sql.includes('INSERT INTO sql_queue_commit_log');
}

async function idsOf({ sql }: World): Promise<number[]> {
  return (await sql<{ id: string }>('SELECT id FROM sql_queue_jobs ORDER BY id')).map(({ id }) => Number(id));
}

/** Resolves when a producer waits for the commit log row of an enqueue under way. */
async function untilCommitLogReadBlocks({ sql }: World): Promise<void> {
  await eventually(async () => {
    const rows = await sql<{ info: string | null }>(
      'SELECT info FROM information_schema.processlist WHERE db = DATABASE()',
    );
    return rows.some(({ info }) => info !== null && LOCKS_COMMIT_LOG.test(info));
  });
}
