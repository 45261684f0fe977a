import { describeEngines } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { FakeClock } from '../support/fake-clock.js';

const LEASE_MS = 30_000;

describeEngines('a worker', (setup) => {
  it('registers again if its row is deleted while it runs, with its queues', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const { admin, runner } = await world.start({
      ...{
        clock,
        handlers: { q: () => 1, tmp: () => 2, idle: () => 3 },
        worker: { queues: { include: ['q', 'tmp'] } },
      },
      queues: { q: { concurrency: 7 }, tmp: { expiresAfter: '1d' } },
    });
    const [before] = await admin.workers();
    for (const table of ['sql_queue_queues', 'sql_queue_workers']) await world.sql(`DELETE FROM ${table}`);

    await clock.untilSleeping(LEASE_MS / 3, 2);
    await clock.advance(LEASE_MS / 3);
    const [after] = await eventually(async () => {
      const workers = await admin.workers();
      return workers.length > 0 && workers;
    });

    expect(after).toMatchObject({ id: before!.id, queues: before!.queues });
    const [temporary] = await world.sql("SELECT expires_after_ms FROM sql_queue_queues WHERE queue = 'tmp'");
    expect(temporary).toMatchObject({ expires_after_ms: expect.anything() as unknown });
    await runner.stop();
    expect(await admin.workers()).toEqual([]);
  });

  it('leaves no row if it cannot start', async () => {
    const world = await setup();
    const handlers = { q: () => 'done' };
    const { runner } = await world.start({ autoStart: false, handlers, queues: { q: { maxRunning: 5 } } });
    const rename = (from: string, to: string) => world.sql(`ALTER TABLE sql_queue_${from} RENAME TO sql_queue_${to}`);
    const workers = () => world.sql('SELECT id FROM sql_queue_workers');

    await rename('limits', 'renamed');
    const rejected = await runner.start().catch((error: unknown) => error);
    await rename('renamed', 'limits');

    expect(rejected).toBeInstanceOf(Error);
    expect([runner.state, await workers()]).toEqual(['stopped', []]);
    await runner.start();
    expect(await workers()).toHaveLength(1);
  });
});
