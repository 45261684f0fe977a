import { DataSource } from 'typeorm';
import { MIGRATIONS, type Migration } from '../../lib/store/schema/migrations.js';
import { sqlQueueMigrations } from '../../lib/store/databases/typeorm-migrations.js';
import { claimRequest } from '../support/jobs.js';
import { addNextMigration } from '../support/next-migration.js';
import { describeStores } from '../support/stores.js';

const allVersions = () => MIGRATIONS.map(({ version }) => ({ version }));

/** A migration of a later release, with a statement for the column and one for the index. */
const NEXT: Pick<Migration, 'up' | 'down'> = {
  up: (dialect) => [
    `ALTER TABLE {jobs} ADD COLUMN region VARCHAR(20) NOT NULL DEFAULT ''`,
    dialect === 'sqlite'
      ? 'CREATE INDEX IF NOT EXISTS {jobs}_region ON {jobs} (region)'
      : 'ALTER TABLE {jobs} ADD INDEX {jobs}_region (region)',
  ],
  down: (dialect) => [
    dialect === 'sqlite' ? 'DROP INDEX IF EXISTS {jobs}_region' : 'ALTER TABLE {jobs} DROP INDEX {jobs}_region',
    'ALTER TABLE {jobs} DROP COLUMN region',
  ],
};

describeStores('the tables', (setup, { inMemory }) => {
  it('are created once by any number of concurrent processes', async () => {
    const { open, put, claim } = await setup();
    await put({});
    const prefix = `many${Date.now()}_`;

    await Promise.all(Array.from({ length: 4 }, () => open({ prefix })));
    await open();

    expect((await claim()).jobs).toHaveLength(1);
  });

  it('are a separate queue under another prefix', async () => {
    const { open, put, claim } = await setup();
    const other = await open({ prefix: 'other_' });
    await put({});

    expect(await other.admin.counts()).toMatchObject({ waiting: 0 });
    expect((await claim()).jobs).toHaveLength(1);
  });

  it('may have a prefix of forty characters', async () => {
    const { open } = await setup();

    const { admin } = await open({ prefix: 'x'.repeat(40) });

    expect(await admin.counts()).toMatchObject({ waiting: 0 });
  });

  it('are rejected with a prefix that is not an identifier', async () => {
    const { open } = await setup();

    await expect(open({ prefix: 'x; DROP TABLE' })).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
  });

  it('are named with the way out in the error if they are missing and only checked', async () => {
    const { open } = await setup();

    const opened = open({ prefix: 'missing_', migrate: 'check' });

    await expect(opened).rejects.toMatchObject({ code: 'SCHEMA_OUT_OF_DATE' });
    await expect(opened).rejects.toThrow(
      /tables are missing: there is no table missing_schema in the database \S+, .*nestjs-sql-queue migrate.*--prefix.*migrate: 'run'/s,
    );
  });

  it('are named with the way out in the error of a call if they are missing and not checked', async () => {
    const { open } = await setup();
    const { jobs } = await open({ prefix: 'absent_', migrate: 'off' });

    const claimed = jobs.claim(claimRequest());

    await expect(claimed).rejects.toMatchObject({ code: 'SCHEMA_OUT_OF_DATE' });
    await expect(claimed).rejects.toThrow(/absent_jobs.*nestjs-sql-queue migrate.*--prefix.*doctor/s);
  });

  it('pass the check once they exist', async () => {
    const { open } = await setup();

    const { admin } = await open({ migrate: 'check' });

    expect(await admin.counts()).toMatchObject({ waiting: 0 });
  });

  it('are rejected by migrations and by the check if a newer release created them', async () => {
    const { open, sql } = await setup();
    await open({ prefix: 'newer_' });
    await sql('INSERT INTO newer_schema (version, applied_at) VALUES (99, 0)');

    for (const migrate of ['run', 'check'] as const) {
      await expect(open({ prefix: 'newer_', migrate })).rejects.toThrow(
        /have version 99, expected \d+.*Update the package/s,
      );
    }
  });

  it('are completed if they were created in part', async () => {
    const { open, sql } = await setup();
    await open({ prefix: 'part_' });
    await sql('DROP TABLE part_claims');
    await sql('DELETE FROM part_schema');

    const { admin } = await open({ prefix: 'part_' });

    expect(await admin.counts()).toMatchObject({ waiting: 0 });
    expect(await sql('SELECT version FROM part_schema ORDER BY version')).toEqual(allVersions());
  });

  it('are created and dropped by TypeORM’s migrations, and pass the check in between', async () => {
    const { connect, open } = await setup();
    addNextMigration(NEXT);
    const dataSource = await connect({ migrations: sqlQueueMigrations({ prefix: 'orm_' }) });

    await dataSource.runMigrations();
    const opened = await open({ dataSource, prefix: 'orm_', migrate: 'check' });
    expect(await opened.admin.counts()).toMatchObject({ waiting: 0 });
    await opened.jobs.close();
    for (const { version } of allVersions().slice(0, -1).reverse()) {
      await dataSource.undoLastMigration();
      await expect(open({ dataSource, prefix: 'orm_', migrate: 'check' })).rejects.toThrow(
        new RegExp(`have version ${version} in the database \\S+, expected`),
      );
    }
    await dataSource.undoLastMigration();

    await expect(open({ dataSource, prefix: 'orm_', migrate: 'check' })).rejects.toThrow(/are missing/);
  });

  it('keep 100,000 jobs and the claims of running workers in an update to the next version', async () => {
    const { connect, open } = await setup();
    const dataSource = await connect({ migrations: sqlQueueMigrations({ prefix: 'old_' }) });
    await dataSource.runMigrations();
    await dataSource.query(`INSERT INTO old_jobs (queue, payload)
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1000)
      SELECT 'q', CONCAT('', (a.n - 1) * 100 + b.n) FROM numbers a, (SELECT n FROM numbers WHERE n <= 100) AS b`);
    const ids = Array.from({ length: 10 }, (_, index) => index + 1);
    await dataSource.query(`UPDATE old_jobs SET state = 'active', claim_id = 7 WHERE id <= 10`);
    await dataSource.query(`INSERT INTO old_claims (id, worker_id, queue, job_ids, start_limit, lease_ms, lease_until, claimed_at)
      VALUES (7, 'w', 'q', '${JSON.stringify(ids)}', 10, 30000, 9000000000000, 1)`);
    addNextMigration(NEXT);

    const newer = await open({ dataSource, prefix: 'old_' });

    expect(await newer.admin.counts()).toMatchObject({ waiting: 99_990, active: 10 });
    expect(await newer.jobs.claim(claimRequest())).toMatchObject([{ id: 11 }]);
    expect(await newer.jobs.extend([7])).toHaveLength(1);
    expect(await dataSource.query(`SELECT DISTINCT region FROM old_jobs`)).toEqual([{ region: '' }]);
  });

  it('are updated by a process that repeats the statements of one that was killed', async () => {
    const { connect, open } = await setup();
    const dataSource = await connect();
    const { version } = addNextMigration(NEXT);
    await open({ dataSource, prefix: 'twice_' });
    await dataSource.query(`DELETE FROM twice_schema WHERE version = ${version}`);

    const { admin } = await open({ dataSource, prefix: 'twice_' });

    expect(await admin.counts()).toMatchObject({ waiting: 0 });
    expect(await dataSource.query('SELECT version FROM twice_schema ORDER BY version')).toEqual(allVersions());
  });

  it('are adopted by TypeORM’s migrations after the boot has created them', async () => {
    const { connect, open } = await setup();
    const dataSource = await connect({ migrations: sqlQueueMigrations({ prefix: 'both_' }) });
    await open({ dataSource, prefix: 'both_' });

    await dataSource.runMigrations();

    expect(await dataSource.query('SELECT version FROM both_schema ORDER BY version')).toEqual(allVersions());
  });

  it('are unchanged by a DataSource that synchronizes', async () => {
    if (inMemory) return; // A second DataSource would have another database.
    const { connect, put, claim } = await setup();
    await put({});

    const dataSource: DataSource = await connect({ synchronize: true });
    await dataSource.synchronize();

    expect((await claim()).jobs).toHaveLength(1);
  });
});
