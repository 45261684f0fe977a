import { claimRequest, finalBatchOf, LEASE_MS, newJob, outcomes, rescueRules, completionOf } from '../support/jobs.js';
import { interceptingDriver } from '../support/intercepting-driver.js';
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

describeStoresOf(['mysql', 'mariadb'], 'a verb in a caller’s session', (setup) => {
  const CHARSETS = ['gbk', 'sjis', 'cp932', 'big5', 'latin1', 'utf8mb3'];
  const SETTINGS = `
    SELECT @@character_set_client AS client, @@character_set_results AS results,
           CAST(@@sql_select_limit AS CHAR) AS most
    LIMIT 1`;
  const ATTACKS = ['い', 'é', '日', '汁', 'ス', '😀', 'ā', '\\', "'"].map((odd) =>
    JSON.stringify(`${odd}'); DELETE FROM sql_queue_history; -- `),
  );

  it.each(CHARSETS)('stores texts unchanged, and as texts, after SET NAMES %s', async (charset) => {
    const { dataSource, jobs, put, claim, sql } = await setup();
    await put({});
    await jobs.complete(finalBatchOf(await claim()));

    await dataSource.transaction(async (manager) => {
      await manager.query(`SET NAMES ${charset}`);
      for (const text of ATTACKS) await jobs.enqueue([newJob({ payload: text, headers: text })], manager);
      await manager.query('SET NAMES utf8mb4');
    });

    const taken = await jobs.claim(claimRequest({ limit: 99, startLimit: 99 }));
    expect(taken.map(({ payload }) => payload)).toEqual(ATTACKS);
    expect(taken.map(({ headers }) => headers)).toEqual(ATTACKS);
    expect(await sql('SELECT id FROM sql_queue_history')).toHaveLength(1);
  });

  it.each(CHARSETS)('reads texts unchanged after SET NAMES %s, and leaves the session as it was', async (charset) => {
    const { dataSource, jobs, admin, put, claim, sql } = await setup();
    const payload = JSON.stringify({ ключ: '"é\\ 😀 日本' });
    const [id] = await put({ payload, headers: payload });
    await jobs.complete(finalBatchOf(await claim(), outcomes.dead));

    const settings = await dataSource.transaction(async (manager) => {
      await manager.query(`SET NAMES ${charset}`);
      const before = await manager.query<unknown[]>(SETTINGS);
      expect(await admin.get(id!, manager)).toMatchObject({ payload: JSON.parse(payload) as unknown });
      expect(await admin.retry([id!], { transaction: manager })).toEqual([id]);
      const after = await manager.query<unknown[]>(SETTINGS);
      await manager.query('SET NAMES utf8mb4');
      return { before, after };
    });

    expect(await sql('SELECT payload, headers FROM sql_queue_jobs')).toEqual([{ payload, headers: payload }]);
    expect(settings.after).toEqual(settings.before);
  });

  it.each([0, 1])('changes all jobs that it names if sql_select_limit is %s', async (most) => {
    const { dataSource, jobs, admin, put } = await setup();
    const ids = await put({}, {}, {});
    const taken = await jobs.claim(claimRequest({ limit: 3, startLimit: 3, claimId: 1, workerId: 'w' }));
    await jobs.complete(finalBatchOf({ id: 1, workerId: 'w', jobs: taken }, outcomes.dead));

    const { retried, after } = await dataSource.transaction(async (manager) => {
      await manager.query(`SET SESSION sql_select_limit = ${most}`);
      const all = await Promise.all(ids.map((id) => admin.retry([id], { transaction: manager })));
      const [found] = await manager.query<{ most: string }[]>(SETTINGS);
      await manager.query('SET SESSION sql_select_limit = DEFAULT');
      return { retried: all.flat(), after: found };
    });

    expect(retried).toEqual(ids);
    expect(after!.most).toBe(`${most}`);
  });
});

describeStoresOf(['mysql', 'mariadb'], 'a wait', (setup) => {
  it('finds its jobs, and those that were removed, although an answer of the server would be cut', async () => {
    const { connect, open, put, admin } = await setup();
    const driver = interceptingDriver(async (sql, run) => {
      if (/START TRANSACTION/.test(sql)) await run('SET SESSION sql_select_limit = 1');
    });
    const { waits } = await open({ dataSource: await connect({ driver }) });
    const ids = await put({}, {}, {}, {});
    await waits.register(7, ids, 60_000);

    expect([...(await waits.readJobs(ids)).keys()]).toEqual(ids);
    await admin.remove(ids.slice(0, 3));
    expect([...(await waits.removedOf(7, ids))]).toEqual(ids.slice(0, 3));
  });
});
