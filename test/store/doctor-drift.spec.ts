import { systemClock } from '../../lib/common/clock.js';
import type { Account } from '../../lib/store/doctor/account-privileges.js';
import { diagnose } from '../../lib/store/diagnose.js';
import type { Diagnosis } from '../../lib/job/problems/diagnosis.js';
import { schemaVersion } from '../../lib/store/schema/migrations.js';
import { account } from '../support/accounts.js';
import { describeEngines, type World } from '../support/engines.js';

const intact = { check: 'tables', level: 'ok', wayOut: null } as const;

async function examineTables(dataSource: World['dataSource'], as: Account = 'worker'): Promise<Diagnosis[]> {
  const limits = { shortestLeaseMs: 30_000, largestPayloadBytes: 1_048_576 };
  const diagnoses = await diagnose({ ...{ dataSource, clock: systemClock, account: as }, ...limits });
  return diagnoses.filter(({ check }) => check === 'tables');
}

/** Executes the statements that the diagnosis advises. */
async function repair(world: World, { wayOut }: Diagnosis): Promise<void> {
  const [, ...lines] = wayOut!.split('\n');
  for (const statement of lines.join('\n').split(';').slice(0, -1)) await world.sql(statement);
}

async function withTables(setup: () => Promise<World>): Promise<World> {
  const world = await setup();
  await (await world.start({ autoStart: false })).close();
  return world;
}

describeEngines('the doctor, when another program has changed the tables', (setup, server) => {
  const isSqlite = server.name === 'sqlite';
  const dropIndex = (index: string, table: string) => `DROP INDEX ${index}${isSqlite ? '' : ` ON ${table}`}`;

  const damages = [
    ['sql_queue_claims is missing', ['DROP TABLE sql_queue_claims']],
    ['sql_queue_jobs is missing', ['DROP TABLE sql_queue_jobs']],
    ['the column settings is missing', ['ALTER TABLE sql_queue_queues DROP COLUMN settings']],
    ['the column max_attempts is missing', ['ALTER TABLE sql_queue_jobs DROP COLUMN max_attempts']],
    ['the column created_at is missing', ['ALTER TABLE sql_queue_jobs DROP COLUMN created_at']],
    ['the column payload is missing', ['ALTER TABLE sql_queue_history DROP COLUMN payload']],
    ['the index sql_queue_steps_signal is missing', [dropIndex('sql_queue_steps_signal', 'sql_queue_steps')]],
    [
      'the index sql_queue_jobs_queue is (queue, priority), expected (queue, runnable, run_at, group_key, priority, id)',
      [
        dropIndex('sql_queue_jobs_queue', 'sql_queue_jobs'),
        'CREATE INDEX sql_queue_jobs_queue ON sql_queue_jobs (queue, priority)',
      ],
    ],
    [
      'the index sql_queue_edges_needs is unique on (needs), expected (needs)',
      [
        dropIndex('sql_queue_edges_needs', 'sql_queue_edges'),
        'CREATE UNIQUE INDEX sql_queue_edges_needs ON sql_queue_edges (needs)',
      ],
    ],
    [
      'the column tenant is not of this release and has no default',
      isSqlite
        ? [
            'DROP TABLE sql_queue_logs',
            `CREATE TABLE sql_queue_logs (job_id BIGINT NOT NULL, number INT NOT NULL, logged_at BIGINT NOT NULL,
              line TEXT NOT NULL, tenant TEXT NOT NULL, PRIMARY KEY (job_id, number))`,
          ]
        : ['ALTER TABLE sql_queue_logs ADD COLUMN tenant INT NOT NULL'],
    ],
    [
      'the primary key is (job_id), expected (job_id, number)',
      isSqlite
        ? [
            'DROP TABLE sql_queue_logs',
            `CREATE TABLE sql_queue_logs (job_id BIGINT NOT NULL PRIMARY KEY, number INT NOT NULL,
              logged_at BIGINT NOT NULL, line TEXT NOT NULL)`,
          ]
        : ['ALTER TABLE sql_queue_logs DROP PRIMARY KEY, ADD PRIMARY KEY (job_id)'],
    ],
  ] as const;

  it.each(damages)('reports “%s”, and its statements repair it', async (fact, statements) => {
    const world = await withTables(setup);
    for (const statement of statements) await world.sql(statement);

    const found = await examineTables(world.dataSource);
    for (const diagnosis of found) await repair(world, diagnosis);

    expect(found).toMatchObject([{ level: 'problem', facts: expect.stringContaining(fact) }]);
    expect(await examineTables(world.dataSource)).toMatchObject([intact]);
  });

  it('keeps the rows of a table that its statements repair', async () => {
    const world = await withTables(setup);
    const { producer } = await world.start({ autoStart: false });
    const { id } = await producer.enqueue('q', 'kept', { priority: 3 });
    await world.sql('ALTER TABLE sql_queue_jobs DROP COLUMN created_at');

    for (const diagnosis of await examineTables(world.dataSource)) await repair(world, diagnosis);
    const { producer: later } = await world.start({ autoStart: false });
    const { id: nextId } = await later.enqueue('q', 'next');

    expect(await world.sql('SELECT payload, priority FROM sql_queue_jobs ORDER BY id')).toEqual([
      { payload: '"kept"', priority: 3 },
      { payload: '"next"', priority: 0 },
    ]);
    expect(nextId).toBeGreaterThan(id);
  });

  it('notes columns and indexes of other programs, with the statements that drop them', async () => {
    const world = await withTables(setup);
    await world.sql('ALTER TABLE sql_queue_history ADD COLUMN reviewed_by VARCHAR(20) NULL');
    await world.sql('CREATE INDEX by_owner ON sql_queue_history (owner)');

    const found = await examineTables(world.dataSource);
    for (const diagnosis of found) await repair(world, diagnosis);

    expect(found).toMatchObject([
      { level: 'note', facts: 'sql_queue_history: the column reviewed_by is not of this release' },
      { level: 'note', facts: 'sql_queue_history: the index by_owner is not of this release' },
    ]);
    expect(await examineTables(world.dataSource)).toMatchObject([
      { ...intact, facts: `version ${schemaVersion()}, with its columns, keys and indexes` },
    ]);
  });
});

describeEngines(
  'the doctor, on a server on which another program has changed the tables',
  (setup) => {
    it('finds another type, collation, nullability and default of a column, and its statement repairs them', async () => {
      const world = await withTables(setup);
      await world.sql(`
      ALTER TABLE sql_queue_claims
        MODIFY queue VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
        MODIFY worker_id VARCHAR(36) CHARACTER SET ascii COLLATE ascii_general_ci NOT NULL,
        MODIFY lease_until BIGINT NULL,
        MODIFY lock_id BIGINT NOT NULL`);

      const found = await examineTables(world.dataSource);
      await repair(world, found[0]!);

      expect(found.map(({ facts }) => facts)).toEqual([
        'sql_queue_claims: the column worker_id has the collation ascii_general_ci, expected ascii_bin; ' +
          'the column queue has the type varchar(50), expected varchar(100); the column lock_id has no default; ' +
          'the column lease_until can be NULL, expected NOT NULL',
      ]);
      expect(await examineTables(world.dataSource)).toMatchObject([intact]);
    });

    it('names the tables that its account may not see, and takes none of them for missing', async () => {
      const world = await withTables(setup);
      const dataSource = await account(world, 'producer');

      const found = await examineTables(dataSource, 'producer');

      expect(found).toMatchObject([{ level: 'unknown', facts: expect.stringContaining('sql_queue_schedules') }]);
      expect(found[0]!.facts).not.toContain('sql_queue_jobs');
    });
  },
  ['mysql', 'mariadb'],
);
