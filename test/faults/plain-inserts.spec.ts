import { typeIn } from '../support/client.js';
import { describeEngines } from '../support/engines.js';

describeEngines(
  `a plain INSERT by the database's own client`,
  (setup, server) => {
    // Without a client on this machine there is nothing to prove.
    const itWithClient = server.client === undefined ? it.skip : it;

    itWithClient('is a job like any other', async () => {
      const world = await setup();
      const { events, admin } = await world.start({
        handlers: { 'email.send': ({ payload }) => (payload as { to: string }).to },
      });

      await typeIn(world, `INSERT INTO sql_queue_jobs (queue, payload) VALUES ('email.send', '{"to":"a@b.c"}')`);
      const { jobId } = await events.until('completed');

      expect(await admin.get(jobId)).toMatchObject({
        ...{ state: 'completed', name: 'default', attempt: 1, maxAttempts: 3, priority: 0, result: 'a@b.c' },
      });
    });

    itWithClient('with run_at runs when it is due and not before', async () => {
      const world = await setup();
      const { events, admin, runner } = await world.start({ handlers: { 'email.send': () => 'done' } });
      const due = (await world.now()) + 3_600_000;

      await typeIn(world, `INSERT INTO sql_queue_jobs (queue, payload, run_at) VALUES ('email.send', '1', ${due})`);
      await runner.whenIdle();
      const [scheduled] = (await admin.find({ state: 'scheduled' })).jobs;
      world.advance(3_600_000);
      const { jobId } = await events.until('completed');

      expect(scheduled).toMatchObject({ id: jobId, attempt: 0, runAt: new Date(due) });
    });
  },
  ['mysql', 'mariadb'],
);
