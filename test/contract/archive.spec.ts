import { DataSource } from 'typeorm';
import { sqlQueueArchiveEntity } from '../../lib/store/tables/entities.js';
import { sqlQueueMigrations } from '../../lib/store/databases/typeorm-migrations.js';
import { archivedTo } from '../support/archives.js';
import { finalBatchOf, outcomes } from '../support/jobs.js';
import { describeStores, type Setup } from '../support/stores.js';

const archive = { to: 'kept_jobs' };
const archives = archivedTo(archive.to);

async function setupArchive(setup: Setup) {
  const world = await setup();
  await world.sql('DROP TABLE IF EXISTS kept_jobs');
  const { jobs } = await world.open({ archives });
  const finish = async (
    jobsToEnd: number,
    keepMs = 0,
    outcome: (typeof outcomes)[keyof typeof outcomes] = outcomes.complete,
  ) => {
    const ids = await world.put(...Array.from({ length: jobsToEnd }, () => ({ payload: '"é"', headers: '{"h":"1"}' })));
    await world.jobs.complete(finalBatchOf(await world.claim({ limit: jobsToEnd }), outcome, { retentionMs: keepMs }));
    return ids;
  };
  const kept = () => world.sql<Record<string, unknown>>('SELECT * FROM kept_jobs ORDER BY id');
  return { ...world, archiving: jobs, finish, kept };
}

describeStores('an archive', (setup, { inMemory, server }) => {
  it('receives unchanged the finished jobs whose retention is over, and no others', async () => {
    const { archiving, finish, kept, sql, advance, admin } = await setupArchive(setup);
    const [completed] = await finish(1, 1_000);
    const [dead] = await finish(1, 1_000, outcomes.dead);
    const [later] = await finish(1, 60_000);
    const rows = await sql('SELECT * FROM sql_queue_history ORDER BY id');

    advance(1_001);
    const moved = await archiving.prune(100);

    expect(moved).toBe(2);
    expect(rows.map((row) => (row as { id: unknown }).id).map(Number)).toEqual([completed, dead, later]);
    expect(await kept()).toEqual(rows.slice(0, 2));
    expect((await admin.find({}, { order: 'oldest', limit: 9 })).jobs.map(({ id }) => id)).toEqual([later]);
  });

  it('receives at most the given number of jobs per call', async () => {
    const { archiving, finish, kept, advance } = await setupArchive(setup);
    await finish(5);

    advance(1);

    expect([await archiving.prune(2), await archiving.prune(2), await archiving.prune(2)]).toEqual([2, 2, 1]);
    expect(await kept()).toHaveLength(5);
  });

  it('receives each job once from concurrent calls', async () => {
    const { archiving, finish, kept, advance, open } = await setupArchive(setup);
    const ids = await finish(60);
    const { jobs: other } = await open({ archives });
    advance(1);

    const moved = await Promise.all([archiving, other, archiving, other].map((jobs) => jobs.prune(40)));
    const rest = (await archiving.prune(100)) + (await archiving.prune(100));

    expect(moved.reduce((sum, count) => sum + count) + rest).toBe(60);
    expect((await kept()).map(({ id }) => Number(id))).toEqual(ids);
  });

  it('accepts a job that it already holds', async () => {
    const { archiving, finish, kept, advance, sql } = await setupArchive(setup);
    await finish(2);
    advance(1);
    await sql('INSERT INTO kept_jobs SELECT * FROM sql_queue_history ORDER BY id LIMIT 1');

    expect(await archiving.prune(100)).toBe(2);
    expect(await kept()).toHaveLength(2);
  });

  it('receives no job that is retried at the same time', async () => {
    const { archiving, finish, kept, advance, admin } = await setupArchive(setup);
    const ids = await finish(20, 0, outcomes.dead);
    advance(1);

    const [retried] = await Promise.all([admin.retry(ids), archiving.prune(100)]);
    await archiving.prune(100);

    const archived = (await kept()).map(({ id }) => Number(id));
    expect([...archived, ...retried].sort((a, b) => a - b)).toEqual(ids);
  });

  it('receives the jobs of its own queues, while jobs of a queue without an archive are deleted', async () => {
    const { put, jobs, claim, sql, advance, open, admin } = await setupArchive(setup);
    await sql('DROP TABLE IF EXISTS other_jobs');
    const tables: Readonly<Record<string, string>> = { mail: 'kept_jobs', sms: 'kept_jobs', photos: 'other_jobs' };
    const { jobs: archiving } = await open({
      archives: { tables: ['kept_jobs', 'other_jobs'], tableOf: (queue) => tables[queue] },
    });
    const ids: Record<string, number> = {};
    for (const queue of ['mail', 'logs', 'photos', 'sms']) {
      const [id] = await put({ queue });
      ids[queue] = id!;
      await jobs.complete(finalBatchOf(await claim({ queue }), outcomes.complete, { retentionMs: 0 }));
    }
    advance(1);

    const moved = await archiving.prune(100);

    const archived = async (table: string) =>
      (await sql<{ id: unknown }>(`SELECT id FROM ${table} ORDER BY id`)).map(({ id }) => Number(id));
    expect(moved).toBe(4);
    expect(await archived('kept_jobs')).toEqual([ids['mail'], ids['sms']]);
    expect(await archived('other_jobs')).toEqual([ids['photos']]);
    expect(await admin.counts()).toMatchObject({ completed: 0 });
  });

  it('is named with the way out in the error if its table is missing and migrations are only checked', async () => {
    const { open } = await setup();

    const opened = open({ archives: archivedTo('nowhere'), migrate: 'check' });

    await expect(opened).rejects.toMatchObject({ code: 'SCHEMA_OUT_OF_DATE' });
    await expect(opened).rejects.toThrow(/archive.*sqlQueueMigrations\(\{ archive \}\)/s);
  });

  it('is rejected if its table has other columns', async () => {
    const { open, sql } = await setup();
    await sql('CREATE TABLE IF NOT EXISTS oddly_shaped (id INT PRIMARY KEY)');

    await expect(open({ archives: archivedTo('oddly_shaped') })).rejects.toMatchObject({
      code: 'SCHEMA_OUT_OF_DATE',
      message: expect.stringMatching(/column.*a table that does not exist yet/is) as string,
    });
  });

  it.each(['x; DROP TABLE y', '', 'sql_queue_jobs', 'SQL_QUEUE_HISTORY', 'x'.repeat(51), 7])(
    'is rejected if its table name is %o',
    async (to) => {
      const { open } = await setup();

      await expect(open({ archives: archivedTo(to as string) })).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
    },
  );

  if (inMemory) return;

  it('can be created per queue by a migration, each table once', async () => {
    const { connect, sql, open } = await setup();
    const tables = ['mail_archive', 'photo_archive'];
    for (const table of tables) await sql(`DROP TABLE IF EXISTS ${table}`);
    const archive = [...tables, 'mail_archive'].map((to) => ({ to }));
    const dataSource: DataSource = await connect({ migrations: sqlQueueMigrations({ archive }) });

    await dataSource.runMigrations();

    await open({ archives: { tables, tableOf: () => undefined }, migrate: 'check' });
    for (const table of tables) expect(await sql(`SELECT id FROM ${table}`)).toEqual([]);
    for (const _ of tables) await dataSource.undoLastMigration();
    await expect(open({ archives: { tables, tableOf: () => undefined }, migrate: 'check' })).rejects.toMatchObject({
      code: 'SCHEMA_OUT_OF_DATE',
    });
  });

  it('can be created by a migration, passes the check, and matches its entity', async () => {
    const { archiving, finish, advance, connect, sql, open } = await setupArchive(setup);
    await sql('DROP TABLE kept_jobs');
    const dataSource: DataSource = await connect({
      migrations: sqlQueueMigrations({ archive }),
      entities: [sqlQueueArchiveEntity(archive)],
    });

    await dataSource.runMigrations();
    await open({ archives, migrate: 'check' });
    const [id] = await finish(1);
    advance(1);
    await archiving.prune(100);

    const found = await dataSource.getRepository('SqlQueueArchive_kept_jobs').find();
    expect(found).toMatchObject([{ id, state: 'completed', payload: '"é"', maxAttempts: 5 }]);
    const table = await dataSource.createQueryRunner().getTable('kept_jobs');
    expect(table!.indices.map(({ name }) => name)).toEqual(['kept_jobs_state']);
    expect((await dataSource.driver.createSchemaBuilder().log()).upQueries).toEqual([]);
    await dataSource.undoLastMigration();
    if (server.name === 'sqlite') return;
    await expect(sql('SELECT 1 FROM kept_jobs')).rejects.toThrow(/exist/);
  });
});
