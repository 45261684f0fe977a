import { claimRequest, finalBatchOf, LEASE_MS, newJob, rescueRules, completionOf } from '../support/jobs.js';
import { describeStoresOf, type Setup } from '../support/stores.js';

/** Expects that creation, due and lease times follow the database's clock. */
async function keepsTime(setup: Setup, options: object): Promise<void> {
  const { connect, open, advance } = await setup();
  const { jobs, admin } = await open({ dataSource: await connect(options) });
  const [id] = await jobs.enqueue([newJob({ delayMs: 60_000 })]);

  const record = (await admin.get(id!))!;
  expect(Math.abs(record.createdAt.getTime() - Date.now())).toBeLessThan(60_000);
  expect(await jobs.promote(9)).toHaveLength(0);
  advance(60_001);
  expect(await jobs.promote(9)).toHaveLength(1);
  await jobs.claim(claimRequest());
  expect(await jobs.rescue(rescueRules())).toEqual([]);
  advance(LEASE_MS);
  expect(await jobs.rescue(rescueRules())).toHaveLength(1);
}

describeStoresOf(['mysql', 'mariadb'], 'the database clock', (setup) => {
  it.each(['local', 'Z', '+09:00'])('gives correct times if the time zone of the driver is %s', async (timezone) => {
    await keepsTime(setup, { timezone });
  });

  it('gives correct times in a caller’s session with another time zone', async () => {
    const { dataSource, jobs, admin } = await setup();

    const [id] = await dataSource.transaction(async (manager) => {
      await manager.query(`SET time_zone = '+05:30'`);
      const ids = await jobs.enqueue([newJob({ delayMs: 60_000 })], manager);
      await manager.query('SET time_zone = DEFAULT');
      return ids;
    });

    const { createdAt, runAt } = (await admin.get(id!))!;
    expect(Math.abs(createdAt.getTime() - Date.now())).toBeLessThan(60_000);
    expect(runAt!.getTime() - createdAt.getTime()).toBe(60_000);
  });
});

describeStoresOf(['mysql', 'mariadb'], 'a text', (setup) => {
  const payload = JSON.stringify({ ключ: '"é\\ 😀 日本\u0000\u2028' });

  it.each(['latin1', 'utf8_general_ci', 'utf8mb4_general_ci'])(
    'stays intact over a caller’s connection with the character set %s',
    async (charset) => {
      const { connect, open } = await setup();
      const dataSource = await connect({ charset: charset.toUpperCase() });
      const { jobs } = await open({ dataSource });

      await dataSource.transaction((manager) => jobs.enqueue([newJob({ payload, headers: payload })], manager));

      const [job] = await jobs.claim(claimRequest());
      expect(JSON.parse(job!.payload)).toEqual(JSON.parse(payload));
      expect(JSON.parse(job!.headers!)).toEqual(JSON.parse(payload));
    },
  );

  it('stays intact over the library’s own connections, for any character set of the application', async () => {
    const { connect, open } = await setup();
    const { jobs, admin } = await open({ dataSource: await connect({ charset: 'LATIN1' }) });
    const [id] = await jobs.enqueue([newJob({ payload })]);
    const taken = { id: 1, workerId: 'w', jobs: await jobs.claim(claimRequest({ claimId: 1, workerId: 'w' })) };

    await jobs.complete(finalBatchOf(taken, { kind: 'complete', result: payload }));

    expect(await admin.get(id!)).toMatchObject({ payload: JSON.parse(payload), result: JSON.parse(payload) });
  });

  it('stays intact as the result of a job that completes in its handler’s transaction', async () => {
    const { connect, open } = await setup();
    const { jobs, admin } = await open({ dataSource: await connect({ charset: 'LATIN1' }) });
    const [id] = await jobs.enqueue([newJob({ payload })]);
    const taken = { id: 1, workerId: 'w', jobs: await jobs.claim(claimRequest({ claimId: 1, workerId: 'w' })) };

    await jobs.completeWith(() =>
      Promise.resolve({
        value: 1,
        completion: completionOf(taken, taken.jobs[0]!, { kind: 'complete', result: payload }),
      }),
    );

    expect(await admin.get(id!)).toMatchObject({ payload: JSON.parse(payload), result: JSON.parse(payload) });
  });
});
