import { describeStores, describeStoresOf } from '../support/stores.js';

describeStores('a plain INSERT', (setup) => {
  it('creates a complete job from queue and payload', async () => {
    const { sql, claim } = await setup();

    await sql(`INSERT INTO sql_queue_jobs (queue, payload) VALUES ('email.send', '{"to":"a@b.c"}')`);

    const { jobs } = await claim({ queue: 'email.send', maxAttempts: 3 });
    expect(jobs).toMatchObject([
      { queue: 'email.send', name: 'default', payload: '{"to":"a@b.c"}', attempt: 1, maxAttempts: 3, priority: 0 },
    ]);
    expect(Math.abs(jobs[0]!.createdAtMs - Date.now())).toBeLessThan(60_000);
  });

  it('creates a job at the position of its id', async () => {
    const { sql, claim, put } = await setup();
    await put({ payload: '1' });
    await sql(`INSERT INTO sql_queue_jobs (queue, payload) VALUES ('q', '2')`);
    await put({ payload: '3' });

    const { jobs } = await claim({ limit: 3 });

    expect(jobs.map(({ payload }) => payload)).toEqual(['1', '2', '3']);
  });

  it('creates a delayed job from run_at', async () => {
    const { sql, claim, jobs, admin, advance } = await setup();
    const runAt = Date.now() + 60_000;
    await sql(`INSERT INTO sql_queue_jobs (queue, payload, run_at) VALUES ('q', '1', ${runAt})`);

    const before = await claim();
    const [record] = (await admin.find({ state: 'scheduled' }, { order: 'oldest', limit: 9 })).jobs;
    const counts = await admin.counts();
    advance(120_000);
    await jobs.promote(9);
    const after = await claim();

    expect(before.jobs).toEqual([]);
    expect(record).toMatchObject({ state: 'scheduled', runAt: new Date(runAt) });
    expect(counts).toMatchObject({ scheduled: 1, waiting: 0 });
    expect(after.jobs).toMatchObject([{ payload: '1', attempt: 1 }]);
  });

  it('does not make its queue look busy with a delayed job', async () => {
    const { sql, jobs, workers } = await setup();
    await workers.register({ id: 'w', host: 'h', pid: 1, queues: new Map([['q', 1]]) });
    await sql(`INSERT INTO sql_queue_jobs (queue, payload, run_at) VALUES ('q', '1', ${Date.now() + 60_000})`);

    const { queues, dueInMs } = await jobs.summarizeWork(['q']);

    expect(queues.get('q')?.waiting).toBe(false);
    expect(dueInMs).toBeGreaterThan(0);
  });

  it('creates no job if its transaction rolls back', async () => {
    const { dataSource, claim } = await setup();

    const work = dataSource.transaction(async (manager) => {
      await manager.query(`INSERT INTO sql_queue_jobs (queue, payload) VALUES ('q', '1')`);
      throw new Error('no');
    });

    await expect(work).rejects.toThrow('no');
    expect((await claim()).jobs).toEqual([]);
  });

  it('creates a job from a payload that is not JSON', async () => {
    const { sql, claim, admin } = await setup();
    await sql(`INSERT INTO sql_queue_jobs (queue, payload, headers, options) VALUES ('q', 'oops', 'oops', 'oops')`);

    const { jobs } = await claim();

    expect(jobs).toMatchObject([{ payload: 'oops', overrides: null }]);
    expect(await admin.get(jobs[0]!.id)).toMatchObject({ payload: null, headers: {} });
  });
});

describeStoresOf(['mysql', 'mariadb'], 'a plain INSERT', (setup) => {
  it('stores the correct creation time in a session with another time zone', async () => {
    const { dataSource, claim } = await setup();
    const runner = dataSource.createQueryRunner();
    await runner.query(`SET time_zone = '+05:30'`);
    await runner.query(`INSERT INTO sql_queue_jobs (queue, payload) VALUES ('q', '1')`);
    await runner.query('SET time_zone = DEFAULT');
    await runner.release();

    const [job] = (await claim()).jobs;

    expect(Math.abs(job!.createdAtMs - Date.now())).toBeLessThan(60_000);
  });
});
