import { describeServers, freshDatabase } from '../support/servers.js';
import { startBullBoard } from './support/bull-board-app.js';

describeServers('the requests of bull-board', (server) => {
  it('read and change everything', async () => {
    const database = await freshDatabase(server);
    const { read, write, fail, producer, schedules, admin, errors, app } = await startBullBoard({
      connection: database.connection,
    });
    const dead = await fail('email', new Error('no'));
    const again = await fail('email', new Error('no'));
    const { id } = await producer.enqueue('email', 1, { delay: '1h' });
    // No tick comes while the test runs.
    await schedules.upsert('leap', { queue: 'email', cron: '0 3 29 2 *' });
    const statuses = ['latest', 'active', 'waiting', 'waiting-children', 'completed', 'failed', 'delayed'];

    const answers = [
      await read('queues'),
      ...(await Promise.all(statuses.map((status) => read(`queues?activeQueue=email&status=${status}`)))),
      await read(`queues/email/${dead}`),
      await read(`queues/email/${dead}/logs`),
      await read(`queues/email/${dead}/flow`),
      await read('queues/email/workers'),
      await read('queues/email/metrics'),
      await read('queues/email/rate-limit'),
      await read('queues/email/default-job-options'),
      await read('queues/email/job-data-schema'),
      await read('job-schedulers'),
      await write('PUT', 'queues/email/pause'),
      await write('PUT', `queues/email/${dead}/retry`),
      await write('PUT', 'queues/email/retry/failed'),
      await write('PATCH', `queues/email/${id}/delay`, { runAt: 4_000_000_000_000 }),
      await write('PATCH', `queues/email/${id}/priority`, { priority: 3 }),
      await write('PATCH', `queues/email/${id}/update-data`, { jobData: { new: true } }),
      await write('PUT', `queues/email/${id}/promote`),
      await write('POST', 'queues/email/add', { name: 'hi', data: 1, options: { delay: 60_000 } }),
      await write('PUT', 'queues/email/job-schedulers/leap/run'),
      await write('PUT', 'queues/email/promote'),
      await write('PUT', 'queues/email/concurrency', { concurrency: 2 }),
      await write('PUT', 'queues/email/rate-limit', { max: 5, duration: 1_000 }),
      await write('PUT', 'queues/email/rate-limit/release'),
    ];
    const before = await admin.counts('email');
    answers.push(
      await write('PUT', `queues/email/${again}/clean`),
      await write('PUT', 'queues/email/clean/completed'),
      await write('PUT', 'queues/email/empty'),
      await write('PUT', 'queues/email/job-schedulers/leap/remove'),
      await write('PUT', 'queues/email/obliterate', {}),
    );
    const queues = await admin.queues();
    await app.close();
    await database.drop();

    expect(answers.filter(({ status }) => status !== 200 && status !== 204)).toEqual([]);
    // Both dead jobs, the promoted ones, and the one of the schedule.
    expect(before).toMatchObject({ waiting: 5, scheduled: 0, dead: 0 });
    expect(queues).toEqual([]);
    expect(errors.filter((line) => !line.includes('is dead after attempt'))).toEqual([]);
  });

  it('list the first 1,000 jobs of a state, newest or next first, and no page behind them', async () => {
    const database = await freshDatabase(server);
    const { read, producer, admin, app } = await startBullBoard({ connection: database.connection });
    const jobs = await producer.enqueueMany(
      'email',
      Array.from({ length: 1_100 }, (_, n) => ({ payload: n })),
    );
    await admin.stats({ maxAge: 0 });

    const page = (number: number, size: number) =>
      read(`queues?activeQueue=email&status=waiting&page=${number}&jobsPerPage=${size}`);
    const first = await page(1, 10);
    const last = await page(100, 10);
    const large = await page(1, 5_000);
    const beyond = await page(101, 10);
    await app.close();
    await database.drop();

    const idsOf = ({ body }: Awaited<ReturnType<typeof page>>) =>
      body.queues[0].jobs.map(({ id }: { id: string }) => Number(id));
    const ids = jobs.map(({ id }) => id);
    expect(first.body.queues[0]).toMatchObject({ counts: { waiting: 1_100 }, pagination: { pageCount: 100 } });
    expect(idsOf(first)).toEqual(ids.slice(0, 10));
    expect(idsOf(last)).toEqual(ids.slice(990, 1_000));
    expect(idsOf(large)).toEqual(ids.slice(0, 1_000));
    expect(beyond.status).toBe(409);
    expect(beyond.body.message).toBe(
      'bull-board lists the first 1000 jobs of a state. Search others with QueueAdmin.find.',
    );
  });
});
