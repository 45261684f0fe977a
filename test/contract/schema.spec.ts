import { DataSource } from 'typeorm';
import { MIGRATIONS } from '../../lib/store/schema/migrations/migrations.js';
import { sqlQueueMigrations } from '../../lib/store/databases/typeorm-migrations.js';
import { claimRequest } from '../support/jobs.js';
import { describeStores } from '../support/stores.js';

const ALL_VERSIONS = MIGRATIONS.map(({ version }) => ({ version }));

describeStores('the tables', (setup, { inMemory, server }) => {
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
    expect(await sql('SELECT version FROM part_schema ORDER BY version')).toEqual(ALL_VERSIONS);
  });

  it('are created and dropped by TypeORM’s migrations, and pass the check in between', async () => {
    const { connect, open } = await setup();
    const dataSource = await connect({ migrations: sqlQueueMigrations({ prefix: 'orm_' }) });

    await dataSource.runMigrations();
    const opened = await open({ dataSource, prefix: 'orm_', migrate: 'check' });
    expect(await opened.admin.counts()).toMatchObject({ waiting: 0 });
    await opened.jobs.close();
    for (const { version } of ALL_VERSIONS.slice(0, -1).reverse()) {
      await dataSource.undoLastMigration();
      await expect(open({ dataSource, prefix: 'orm_', migrate: 'check' })).rejects.toThrow(
        new RegExp(`have version ${version} in the database \\S+, expected`),
      );
    }
    await dataSource.undoLastMigration();

    await expect(open({ dataSource, prefix: 'orm_', migrate: 'check' })).rejects.toThrow(/are missing/);
  });

  it('keep 100,000 jobs and the claims of running workers in an update from version 1', async () => {
    const { connect, open } = await setup();
    const dataSource = await connect({ migrations: sqlQueueMigrations({ prefix: 'old_' }) });
    await dataSource.runMigrations();
    for (let undone = 1; undone < ALL_VERSIONS.length; undone++) await dataSource.undoLastMigration();
    await dataSource.query(`INSERT INTO old_jobs (queue, payload)
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1000)
      SELECT 'q', CONCAT('', (a.n - 1) * 100 + b.n) FROM numbers a, (SELECT n FROM numbers WHERE n <= 100) AS b`);
    const ids = Array.from({ length: 10 }, (_, index) => index + 1);
    await dataSource.query(`UPDATE old_jobs SET state = 'active', claim_id = 7 WHERE id <= 10`);
    await dataSource.query(`INSERT INTO old_claims (id, worker_id, queue, job_ids, start_limit, lease_ms, lease_until, claimed_at)
      VALUES (7, 'w', 'q', '${JSON.stringify(ids)}', 10, 30000, 9000000000000, 1)`);
    const hint = server.name === 'sqlite' ? 'INDEXED BY old_jobs_claim' : 'FORCE INDEX (old_jobs_claim)';
    const olderClaim = `SELECT id FROM old_jobs ${hint} WHERE queue = 'q' AND runnable = 1 ORDER BY priority, id LIMIT 1`;
    await dataSource.query(olderClaim);

    const newer = await open({ dataSource, prefix: 'old_' });

    expect(await newer.admin.counts()).toMatchObject({ waiting: 99_990, active: 10 });
    expect(await newer.jobs.claim(claimRequest())).toMatchObject([{ id: 11 }]);
    expect(await newer.jobs.extend([7])).toHaveLength(1);
    // Running workers of the earlier release complete their jobs, and are refused further ones.
    await expect(dataSource.query(olderClaim)).rejects.toThrow(/old_jobs_claim/);
  });

  it('are adopted by TypeORM’s migrations after the boot has created them', async () => {
    const { connect, open } = await setup();
    const dataSource = await connect({ migrations: sqlQueueMigrations({ prefix: 'both_' }) });
    await open({ dataSource, prefix: 'both_' });

    await dataSource.runMigrations();

    expect(await dataSource.query('SELECT version FROM both_schema ORDER BY version')).toEqual(ALL_VERSIONS);
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
