import { untilAborted, describeEngines, gate, plainJobs } from '../support/engines.js';
import { behindProxy } from '../support/behind-proxy.js';
import { advanceUntilDone, FakeClock } from '../support/fake-clock.js';
import type { World } from '../support/engines.js';
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
