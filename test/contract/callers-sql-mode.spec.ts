import mysql2, { type PoolOptions } from 'mysql2';
import type { EntityManager } from 'typeorm';
import { claimRequest, newJob, completionOf } from '../support/jobs.js';
import { keyedJob } from '../support/keyed-job.js';
import { describeStoresOf, type World } from '../support/stores.js';

const MODES = ['', 'NO_BACKSLASH_ESCAPES', 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES', 'ANSI,PIPES_AS_CONCAT'];
const TEXTS = [
  `it's "quoted" \\ and \\' and \\" and ''`,
  `', 'x'); DELETE FROM sql_queue_jobs; -- `,
  `\\', 'x'); DELETE FROM sql_queue_jobs; -- `,
  `? :now {jobs} \`jobs\` /* # -- \n\t\u0000\u001a `,
];

describeStoresOf(['mysql', 'mariadb'], "a job enqueued in a caller's session", (setup) => {
  it.each(MODES)('is stored unchanged, without other effects, with the sql_mode %j', async (mode) => {
    const { dataSource, jobs, sql } = await setup();

    for (const text of TEXTS) {
      const texts = JSON.stringify({ [text]: text });
      const job = { name: text, payload: texts, headers: texts };
      await inMode(dataSource.manager, mode, async (manager) => {
        await jobs.enqueue([newJob(job), newJob({ ...job, delayMs: 1 })], manager);
        await jobs.enqueueKeyedInTransaction([keyedJob({ key: text }, job)], manager);
        await jobs.enqueueKeyedInTransaction(
          [keyedJob({ key: text, onConflict: 'replace' }, { ...job, priority: 1 })],
          manager,
        );
      });
      await jobs.promote(9);
      const taken = await jobs.claim(claimRequest({ limit: 9, startLimit: 9 }));

      expect(taken.map(({ name, payload, headers }) => ({ name, payload, headers }))).toEqual([job, job, job]);
      expect(await keysOf(sql)).toEqual([text]);
      await sql('DELETE FROM sql_queue_jobs');
    }
  });

  it('is stored unchanged if the mode changes within the transaction', async () => {
    const { dataSource, jobs } = await setup();
    const payload = JSON.stringify(TEXTS);

    await inMode(dataSource.manager, '', async (manager) => {
      await jobs.enqueue([newJob({ payload })], manager);
      await manager.query("SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES'");
      await jobs.enqueue([newJob({ payload })], manager);
    });

    const taken = await jobs.claim(claimRequest({ limit: 9 }));
    expect(taken.map((job) => job.payload)).toEqual([payload, payload]);
  });

  it('is stored unchanged if each session of the application and the library starts in another mode', async () => {
    const { connect, open } = await setup();
    const dataSource = await connect({ driver: beginningWith("SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES'") });
    const { jobs } = await open({ dataSource });
    const payload = JSON.stringify(TEXTS);

    await dataSource.transaction((manager) => jobs.enqueue([newJob({ payload })], manager));
    await jobs.enqueue([newJob({ payload })]);

    const taken = await jobs.claim(claimRequest({ limit: 9 }));
    expect(taken.map((job) => job.payload)).toEqual([payload, payload]);
  });

  it.each(MODES)('keeps its result if its handler completes it with the sql_mode %j', async (mode) => {
    const { connect, open, admin, claim, put } = await setup();
    const { jobs } = await open({ dataSource: await connect() });
    const [id] = await put({});
    const taken = await claim();
    const result = JSON.stringify(TEXTS);

    await jobs.completeWith(async (manager) => {
      await manager.query('SET SESSION sql_mode = ?', [mode]);
      return { value: 1, completion: completionOf(taken, taken.jobs[0]!, { kind: 'complete', result }) };
    });

    expect((await admin.get(id!))?.result).toEqual(JSON.parse(result));
  });
});

/** mysql2, whose connections start with this statement. */
function beginningWith(sql: string): object {
  const createPool = (options: PoolOptions) => {
    const pool = mysql2.createPool(options);
    pool.on('connection', (connection) => void connection.query(sql));
    return pool;
  };
  return { ...mysql2, createPool };
}

async function keysOf(sql: World['sql']): Promise<unknown[]> {
  const rows = await sql<{ options: string }>('SELECT options FROM sql_queue_jobs WHERE options IS NOT NULL');
  return rows.map(({ options }) => (JSON.parse(options) as { key: unknown }).key);
}

async function inMode(manager: EntityManager, mode: string, work: (manager: EntityManager) => Promise<void>) {
  await manager.transaction(async (own) => {
    await own.query('SET SESSION sql_mode = ?', [mode]);
    await work(own);
    await own.query('SET SESSION sql_mode = DEFAULT');
  });
}
