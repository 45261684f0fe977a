import { runInClient } from '../support/database-client.js';
import { describeEngines } from '../support/engines.js';

describeEngines(
  `a plain INSERT by the client of the database`,
  (setup, server) => {
    // Skipped on a machine without a client.
    const itWithClient = server.client === undefined ? it.skip : it;

    itWithClient('enqueues a job like any other', async () => {
      const world = await setup();
      const { events, admin } = await world.start({
        handlers: { 'email.send': ({ payload }) => (payload as { to: string }).to },
      });

      await runInClient(world, `INSERT INTO sql_queue_jobs (queue, payload) VALUES ('email.send', '{"to":"a@b.c"}')`);
      const { jobId } = await events.until('completed');

      expect(await admin.get(jobId)).toMatchObject({
        ...{ state: 'completed', name: 'default', attempt: 1, maxAttempts: 3, priority: 0, result: 'a@b.c' },
      });
    });

    itWithClient('enqueues a job that runs at its run_at and not before', async () => {
      const world = await setup();
      const { events, admin, runner } = await world.start({ handlers: { 'email.send': () => 'done' } });
      const due = (await world.now()) + 3_600_000;

      await runInClient(
        world,
        `INSERT INTO sql_queue_jobs (queue, payload, run_at) VALUES ('email.send', '1', ${due})`,
      );
      await runner.whenIdle();
      const [scheduled] = (await admin.find({ state: 'scheduled' })).jobs;
      world.advance(3_600_000);
      const { jobId } = await events.until('completed');

      expect(scheduled).toMatchObject({ id: jobId, attempt: 0, runAt: new Date(due) });
    });
  },
  ['mysql', 'mariadb'],
);
