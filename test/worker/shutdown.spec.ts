import { untilAborted, describeEngines, gate, plainJobs } from '../support/engines.js';
import { behindProxy } from '../support/behind-proxy.js';
import { advanceUntilDone, FakeClock } from '../support/fake-clock.js';
import type { World } from '../support/engines.js';
import { interceptingDriver } from '../support/intercepting-driver.js';
import { commitsOutcomes, interfereOnce } from '../support/wire-proxy.js';

describeEngines('a worker that stops', (setup) => {
  it('claims no more jobs, releases prefetched jobs without a counted attempt, and waits for running jobs', async () => {
    const world = await setup();
    const { open, opened } = gate();
    const { producer, events, admin, runner, log } = await world.start({
      queues: { q: { concurrency: 2, prefetch: 5 } },
      handlers: { q: () => opened },
    });
    await producer.enqueueMany('q', plainJobs(6));
    await events.untilCount(2, 'started');

    await runner.quiet();
    const stopped = runner.stop();
    await events.untilCount(4, 'released');
    const whileStopping = runner.state;
    open();
    await stopped;

    expect([whileStopping, runner.state]).toEqual(['stopping', 'stopped']);
    expect(await admin.counts('q')).toMatchObject({ completed: 2, waiting: 4, active: 0 });
    expect((await admin.find({ state: 'waiting' })).jobs).toMatchObject(
      Array.from({ length: 4 }, () => ({ attempt: 0, error: null })),
    );
    expect(await admin.workers()).toEqual([]);
    expect(await world.sql('SELECT id FROM sql_queue_claims')).toEqual([]);
    expect(log.filter((line) => line.startsWith('error'))).toEqual([]);
  });

  it('aborts jobs that outlast its deadline, and releases those that ignore the signal', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const { opened } = gate();
    const reasons: string[] = [];
    const { producer, events, admin, runner } = await world.start({
      clock,
      handlers: {
        q: async ({ payload, signal }) => {
          await (payload === 'deaf' ? opened : untilAborted(signal));
          reasons.push((signal.reason as { code: string }).code);
          signal.throwIfAborted();
        },
      },
    });
    await producer.enqueueMany('q', [{ payload: 'heeds' }, { payload: 'deaf' }]);
    await events.untilCount(2, 'started');

    const stopped = runner.stop({ timeout: '20s' });
    await clock.untilSleeping(20_000);
    await clock.advance(20_000);
    await events.untilCount(1, 'released');
    await clock.untilSleeping(1_000);
    await clock.advance(1_000);
    await stopped;

    expect(reasons).toEqual(['SHUTDOWN']);
    expect(events.of('released')).toHaveLength(2);
    expect((await admin.find({ state: 'waiting' })).jobs).toMatchObject(
      Array.from({ length: 2 }, () => ({ attempt: 0, error: null })),
    );
  });

  it('can be started again, and works as before', async () => {
    const world = await setup();
    const { producer, events, runner } = await world.start({ handlers: { q: () => 'done' } });

    await Promise.all([runner.stop(), runner.stop()]);
    const { id } = await producer.enqueue('q', 0);
    await runner.start();
    await runner.start();

    expect(await events.until('completed')).toMatchObject({ jobId: id });
  });
});

// SQLite has one connection, so no other statement passes one that waits.
describeEngines(
  'a worker that waits for the database',
  (setup) => {
    /** Holds the first statement that matches, until `open` is called. */
    async function held(matches: (sql: string) => boolean) {
      const world = await setup();
      const reached = gate();
      const { open, opened } = gate();
      const driver = interceptingDriver(async (sql) => {
        if (!matches(sql)) return;
        reached.open();
        await opened;
      });
      return { world, dataSource: await world.connect({ driver }), reached: reached.opened, open };
    }

    const isDeclarationOf = (queue: string) => (sql: string) =>
      /INSERT .*INTO sql_queue_queues/s.test(sql) && sql.includes(`'${queue}'`);

    it('stops although a handler is being added, and claims no job meanwhile', async () => {
      const { world, dataSource, reached, open } = await held(isDeclarationOf('late'));
      const { producer, events, runner } = await world.start({ dataSource, handlers: { q: () => 'done' } });
      const added = runner.handle('late', {}, () => 'late');
      await reached;

      await runner.quiet();
      await producer.enqueue('q', 0);
      await runner.whenIdle();
      await runner.stop({ timeout: 0 });
      const stopped = [runner.state, [...events.all]];
      open();
      await added;
      await producer.enqueue('late', 0);
      await runner.start();
      await events.until('completed', { queue: 'late' });

      expect(stopped).toEqual(['stopped', []]);
    });

    it('leaves no lock, no row and no timer if it stopped while a handler was added', async () => {
      const clock = new FakeClock();
      const { world, dataSource, reached, open } = await held((sql) => /INSERT .*INTO sql_queue_locks/s.test(sql));
      const { runner } = await world.start({ clock, dataSource, handlers: { q: () => 'done' } });
      const added = runner.handle('late', { claim: 'lock', expiresAfter: '1h', lease: '3s' }, () => 'late');
      await reached;

      await runner.stop();
      const { sleeperCount } = clock;
      open();
      await added;

      expect(clock.sleeperCount).toBe(sleeperCount);
      expect(await world.sql('SELECT id FROM sql_queue_locks')).toEqual([]);
      expect(await world.sql('SELECT id FROM sql_queue_workers')).toEqual([]);
    });

    it.each(['quiet', 'stop'] as const)('claims no job and ends if its start ends after `%s`', async (call) => {
      const { world, dataSource, reached, open } = await held(isDeclarationOf('q'));
      const { producer, events, runner } = await world.start({
        dataSource,
        autoStart: false,
        handlers: { q: () => 'done' },
      });
      await producer.enqueue('q', 0);
      const started = runner.start();
      await reached;

      const stopped = runner[call]();
      const state = runner.state;
      open();
      await Promise.all([started, stopped]);

      expect([state, runner.state, events.all]).toEqual(['stopping', 'stopped', []]);
      expect(await world.sql('SELECT id FROM sql_queue_workers')).toEqual([]);
    });

    it('stops within 4.5 s although its start does not end', async () => {
      const clock = new FakeClock();
      const { world, dataSource, reached, open } = await held(isDeclarationOf('q'));
      const { runner } = await world.start({ clock, dataSource, autoStart: false, handlers: { q: () => 'done' } });
      const started = runner.start();
      await reached;

      const stopped = runner.stop();
      await clock.untilSleeping(4_500);
      await clock.advance(4_500);
      await stopped;
      const { state } = runner;
      open();
      await advanceUntilDone(clock, started);

      expect([state, runner.state]).toEqual(['stopped', 'stopped']);
    });

    it('does not start if it is stopped before its start has begun', async () => {
      const { world, dataSource, reached, open } = await held(isDeclarationOf('late'));
      const { runner } = await world.start({ dataSource });
      const added = runner.handle('late', {}, () => 'late');
      await reached;

      const started = runner.start();
      const stopped = runner.stop();
      open();
      await Promise.all([added, started, stopped]);

      expect(runner.state).toBe('stopped');
    });
  },
  ['mysql', 'mariadb'],
);

// The time for the release after the second in which handlers may heed the signal.
const RELEASE_MS = 3_250;

/** A worker whose handler ignores its signal, and whose release the database stores only when the test allows it. */
async function withSlowRelease(world: World) {
  const isSqlite = world.server.name === 'sqlite';
  const clock = new FakeClock();
  const { opened: never } = gate();
  const { proxy, dataSource } = isSqlite ? { dataSource: world.dataSource } : await behindProxy(world);
  const engine = await world.start({ clock, dataSource, handlers: { q: () => never } });
  const { id } = await engine.producer.enqueue('q', 0);
  await engine.events.until('started');

  const slow = proxy && interfereOnce(proxy, 'held', commitsOutcomes);
  const closed = engine.close();
  await clock.untilSleeping(1_000);
  // Another process that writes on the slow disk.
  if (isSqlite) await world.sql('BEGIN IMMEDIATE');
  await clock.advance(1_000);
  await slow?.interfered;
  const finish = async () => void (proxy ? await proxy.deliverHeld() : await world.sql('COMMIT'));
  return { ...engine, id, clock, closed, finish };
}

const jobOf = async (world: World) => {
  const [job] = await world.sql<{ state: string; attempt: number }>('SELECT state, attempt FROM sql_queue_jobs');
  return { state: job!.state.trim(), attempt: Number(job!.attempt) };
};

describeEngines('a worker that stops on a slow disk', (setup) => {
  it('waits three seconds for the release of a job whose handler ignores its signal', async () => {
    const world = await setup();
    const { clock, closed, finish, log, events } = await withSlowRelease(world);

    await clock.untilSleeping(RELEASE_MS);
    await clock.advance(RELEASE_MS - 1);
    await finish();
    await events.until('released');
    await advanceUntilDone(clock, closed);

    expect(await jobOf(world)).toEqual({ state: 'waiting', attempt: 0 });
    expect(log.filter((line) => /lease|confirmed/.test(line))).toEqual([]);
  });

  it('says that the release may not be stored if the database takes longer', async () => {
    const world = await setup();
    const { id, clock, closed, finish, log, events } = await withSlowRelease(world);

    await advanceUntilDone(clock, closed);
    await events.until('lost');
    await finish();

    expect(log.filter((line) => /lease|confirmed/.test(line))).toEqual([
      `warn: The database has not confirmed the outcome "released" of job ${id} of queue "q". If it is not stored, another ` +
        `run begins when the lease of the job ends. Its attempt counts then. \`npx nestjs-sql-queue doctor\` finds locks, ` +
        `long transactions and settings that delay commits.`,
    ]);
  });
});
