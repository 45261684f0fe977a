import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { systemClock } from '../../lib/common/clock.js';
import { ACCOUNT_PRIVILEGES, ACCOUNTS, TABLE_PRIVILEGES } from '../../lib/store/doctor/account-privileges.js';
import { diagnose, type DiagnosisSettings } from '../../lib/store/diagnose.js';
import type { Diagnosis } from '../../lib/job/problems/diagnosis.js';
import { schemaVersion } from '../../lib/store/schema/migrations.js';
import { TABLES } from '../../lib/store/tables/table-names.js';
import { account, GUIDE_GRANTS } from '../support/accounts.js';
import { behindProxy } from '../support/behind-proxy.js';
import { describeEngines, openWorld, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { addNextMigration } from '../support/next-migration.js';
import { OwnServer } from '../support/own-server.js';
import { processesOf } from '../support/processes.js';
import { describeServers } from '../support/servers.js';

function examine(dataSource: DataSource, settings: Partial<DiagnosisSettings> = {}): Promise<Diagnosis[]> {
  return diagnose({
    ...{ dataSource, clock: systemClock, account: 'worker', shortestLeaseMs: 30_000, largestPayloadBytes: 1_048_576 },
    ...settings,
  });
}

async function examineFor(check: string, dataSource: DataSource, settings: Partial<DiagnosisSettings> = {}) {
  return (await examine(dataSource, settings)).filter((diagnosis) => diagnosis.check === check);
}

// MariaDB reads its transactions anew if no session has read them for 0.1 s.
const REFRESH_MS = 150;

/** Examines again and again until a diagnosis passes the test, because a server shows other sessions a moment later. */
function untilFound(
  check: string,
  dataSource: DataSource,
  passes: (diagnosis: Diagnosis) => boolean,
  settings?: Partial<DiagnosisSettings>,
): Promise<Diagnosis> {
  return eventually(async () => {
    await setTimeout(REFRESH_MS);
    return (await examineFor(check, dataSource, settings)).find(passes);
  });
}

const isProblem = ({ level }: Diagnosis) => level === 'problem';
const factsOf = (diagnoses: readonly Diagnosis[]) => diagnoses.map(({ level, facts }) => `${level} ${facts}`);

/** A world with the tables of the library. */
async function withTables(setup: () => Promise<World>): Promise<World> {
  const world = await setup();
  await (await world.start({ autoStart: false })).close();
  return world;
}

describe('the privileges that the doctor expects', () => {
  it.each(ACCOUNTS)('are those of the guide for the account %s', (name) => {
    const expected = new Map<string, Set<string>>();
    const add = (object: string, privilege: string) => {
      if (!expected.has(object)) expected.set(object, new Set());
      expected.get(object)!.add(privilege);
    };
    for (const grant of GUIDE_GRANTS) {
      const [, privileges, object, who] = /^GRANT (.+) ON app\.(\S+) TO '(\w+)'/.exec(grant) ?? [];
      if (who !== name) continue;
      for (const privilege of privileges!.split(', ')) {
        const onTables = object === '*' && (TABLE_PRIVILEGES as readonly string[]).includes(privilege);
        for (const one of onTables ? TABLES.map((table) => `sql_queue_${table}`) : [object!]) add(one, privilege);
      }
    }

    const { tables, database } = ACCOUNT_PRIVILEGES[name];
    const stated = new Map(Object.entries(tables).map(([table, all]) => [`sql_queue_${table}`, new Set<string>(all)]));
    if (database.length > 0) stated.set('*', new Set(database));

    expect(Object.fromEntries(stated)).toEqual(Object.fromEntries(expected));
  });
});

describeEngines('the doctor', (setup, server) => {
  const isSqlite = server.name === 'sqlite';

  it('finds no problem of the tables, the clock and the queue while a worker runs', async () => {
    const world = await setup();
    const { producer, events } = await world.start({ handlers: { q: () => 0 } });
    await producer.enqueue('q', 0);
    await events.until('completed');

    const isHarmful = ({ level, check }: Diagnosis) => level === 'problem' && check !== 'durability';
    // Other test files may have a long transaction on this server.
    const diagnoses = await eventually(async () => {
      const all = await examine(world.dataSource);
      return !all.some((one) => isHarmful(one) && one.check === 'transactions') && all;
    });

    expect(diagnoses.filter(isHarmful)).toEqual([]);
    expect(diagnoses).toContainEqual(expect.objectContaining({ check: 'tables', level: 'ok' }));
    expect(diagnoses).toContainEqual(expect.objectContaining({ check: 'notifications', level: 'ok' }));
    expect(diagnoses).toContainEqual(expect.objectContaining({ check: 'plan of the claim', level: 'ok' }));
  });

  it('finds missing tables, and tables of another version', async () => {
    const world = await setup({ withoutTables: true });
    const all = await examine(world.dataSource);
    const missing = all.find(({ check }) => check === 'tables');
    await (await world.start({ autoStart: false })).close();
    await world.sql(`INSERT INTO sql_queue_schema (version, applied_at) VALUES (${schemaVersion() + 1}, 0)`);
    const [newer] = await examineFor('tables', world.dataSource);
    await world.sql(`DELETE FROM sql_queue_schema WHERE version > ${schemaVersion()}`);
    addNextMigration();
    const [older] = await examineFor('tables', world.dataSource);

    expect(missing).toMatchObject({ level: 'problem', wayOut: expect.stringContaining('nestjs-sql-queue migrate') });
    expect(all).toContainEqual({
      ...{ check: 'claims', level: 'unknown', facts: 'a table is missing', wayOut: 'See the check "tables".' },
    });
    expect(newer).toMatchObject({ level: 'problem', wayOut: expect.stringContaining('newer release') });
    expect(older).toMatchObject({
      level: 'problem',
      facts: expect.stringContaining(`version ${schemaVersion() - 1},`),
    });
  });

  it('finds queues with due jobs and without a worker or a person, and names paused and disabled queues', async () => {
    const world = await withTables(setup);
    const { producer, admin, consumer } = await world.start({ autoStart: false });
    await producer.enqueue('unserved', 0);
    await producer.enqueueMany('people', [{ payload: 1 }, { payload: 2 }]);
    await consumer.claim('people', { owner: 'ann' });
    await producer.enqueue('later', 0, { delay: '1h' });
    await producer.enqueue('disabled', 0);
    await admin.configure('disabled', { enabled: false });
    await producer.enqueue('served', 0);
    await admin.configure('served', { enabled: false });
    await world.start({ handlers: { served: () => 1 } });
    await producer.enqueue('halted', 0);
    await admin.pause('halted');

    const found = await examineFor('queues', world.dataSource);

    const disabled = (queue: string) =>
      expect.objectContaining({
        level: 'note',
        facts: expect.stringMatching(new RegExp(`^${queue} has \`enabled: false\`: 1 jobs wait`)),
        wayOut: `\`nestjs-sql-queue set ${queue} enabled=true\` lets it run jobs.`,
      });
    expect(found).toEqual([
      disabled('disabled'),
      expect.objectContaining({ level: 'note', facts: expect.stringMatching(/^halted is paused: 1 jobs wait/) }),
      disabled('served'),
      expect.objectContaining({
        level: 'problem',
        facts: expect.stringMatching(/^unserved has no worker: 1 jobs wait/),
      }),
    ]);
  });

  it('names 20 queues with a problem or a pause, and counts the others', async () => {
    const world = await withTables(setup);
    const { producer, admin } = await world.start({ autoStart: false });
    for (let i = 10; i < 33; i++) await producer.enqueue(`q${i}`, 0);

    const found = await examineFor('queues', world.dataSource);
    await admin.pause({ all: true });
    const paused = await examineFor('queues', world.dataSource);

    expect(found).toHaveLength(21);
    expect(found[19]!.facts).toMatch(/^q29 has no worker/);
    expect(found[20]).toMatchObject({ level: 'problem', facts: '3 further queues' });
    expect(paused[20]).toMatchObject({ level: 'note', facts: '3 further queues' });
  });

  it('finds the lapsed claims of a worker that was killed', async () => {
    const world = await withTables(setup);
    const processes = await processesOf(world);
    const worker = await processes.worker();
    const { producer } = await world.start({ autoStart: false });
    await producer.enqueue('q', { hold: true });
    await eventually(async () => (await world.sql('SELECT id FROM sql_queue_claims')).length > 0);
    await worker.kill();

    const before = await examineFor('claims', world.dataSource);
    const after = await examineFor('claims', world.dataSource, { skew: { ms: 3_600_000 } });

    expect(before).toMatchObject([{ level: 'ok' }]);
    expect(after).toMatchObject([{ level: 'problem', facts: expect.stringMatching(/^q: the leases of 1 claims/) }]);
  });

  it('finds a missing and a changed index of the claim, with the statement that creates it', async () => {
    const world = await withTables(setup);
    const drop = isSqlite ? 'DROP INDEX sql_queue_jobs_queue' : 'DROP INDEX sql_queue_jobs_queue ON sql_queue_jobs';
    await world.sql(drop);
    const [missing] = await examineFor('plan of the claim', world.dataSource);
    await world.sql('CREATE INDEX sql_queue_jobs_queue ON sql_queue_jobs (queue)');
    const [changed] = await examineFor('plan of the claim', world.dataSource);
    await world.sql(drop);
    await world.sql(/CREATE INDEX [^;]+/.exec(missing!.wayOut!)![0]);
    const [repaired] = await examineFor('plan of the claim', world.dataSource);

    expect(missing).toMatchObject({ level: 'problem', facts: 'the index sql_queue_jobs_queue is missing' });
    expect(changed).toMatchObject({ level: 'problem', facts: expect.stringMatching(/filesort|TEMP B-TREE/) });
    expect(repaired).toMatchObject({ level: 'ok' });
  });
});

describeEngines(
  'the doctor',
  (setup, server) => {
    it.each(ACCOUNTS)('finds no missing privilege of a %s with the grants of the guide', async (name) => {
      const world = await withTables(setup);
      const dataSource = await account(world, name);

      const diagnoses = await examine(dataSource, { account: name });

      expect(diagnoses.filter(({ check }) => check === 'privileges')).toMatchObject([{ level: 'ok' }]);
      expect(diagnoses).toContainEqual(expect.objectContaining({ check: 'transactions', level: 'unknown' }));
      expect(diagnoses.find(({ check }) => check === 'transactions')!.wayOut).toContain('GRANT PROCESS');
      expect(diagnoses).toContainEqual(expect.objectContaining({ check: 'lock waits', level: 'unknown' }));
      expect(diagnoses).toContainEqual(expect.objectContaining({ check: 'notifications', level: 'ok' }));
    });

    it('finds each missing privilege, with the statements that grant them', async () => {
      const world = await withTables(setup);
      const incomplete = GUIDE_GRANTS.filter((grant) => grant.includes(`'worker'@`))
        .filter((grant) => !grant.includes('sql_queue_signals'))
        .map((grant) => grant.replace(/UPDATE, DELETE (ON app.sql_queue_claims)/, 'UPDATE $1'));
      const dataSource = await account(world, 'worker', incomplete);

      const [found] = await examineFor('privileges', dataSource);
      for (const [grant] of found!.wayOut!.matchAll(/^GRANT .+;$/gm)) await world.sql(grant);
      const [after] = await examineFor('privileges', dataSource);

      expect(found).toMatchObject({
        level: 'problem',
        facts: expect.stringMatching(/: DELETE on \w+claims; SELECT, INSERT, UPDATE, DELETE on \w+signals$/),
      });
      expect(after).toMatchObject({ level: 'ok' });
    });

    it('finds missing privileges of a migrator on the database, which a role may have', async () => {
      const world = await withTables(setup);
      const dataSource = await account(world, 'migrator', [
        `GRANT ALTER, SELECT, INSERT, UPDATE, DELETE ON app.* TO 'migrator'@'%';`,
      ]);

      const [found] = await examineFor('privileges', dataSource, { account: 'migrator' });
      await world.sql(/^GRANT .+;$/m.exec(found!.wayOut!)![0]);
      const [after] = await examineFor('privileges', dataSource, { account: 'migrator' });

      expect(found).toMatchObject({
        level: 'unknown',
        facts: expect.stringMatching(/: CREATE, INDEX on \w+\.\*, unless a role has them$/),
      });
      expect(after).toMatchObject({ level: 'ok' });
    });

    it('reads transactions and lock waits with the privileges that it asks for', async () => {
      const world = await withTables(setup);
      const dataSource = await account(world, 'worker', [
        ...GUIDE_GRANTS.filter((grant) => grant.includes(`'worker'@`)),
        `GRANT PROCESS ON *.* TO 'worker'@'%'`,
        ...(server.name === 'mysql' ? [`GRANT SELECT ON performance_schema.* TO 'worker'@'%'`] : []),
      ]);

      expect((await examine(dataSource)).filter(({ level }) => level === 'unknown')).toEqual([]);
    });

    it('finds that the clocks of this machine and of the server are apart', async () => {
      const world = await withTables(setup);
      const late = { ...systemClock, now: () => new Date(Date.now() - 5_000) };

      const [together] = await examineFor('clock', world.dataSource);
      const [apart] = await examineFor('clock', world.dataSource, { clock: late });

      expect(together).toMatchObject({ level: 'ok' });
      expect(apart).toMatchObject({ level: 'problem', facts: expect.stringMatching(/ahead of this machine$/) });
    });

    it('finds long transactions, and never shows their values', async () => {
      const world = await withTables(setup);
      const other = (await world.connect()).createQueryRunner();
      await other.connect();
      world.afterTest(() => other.release());
      await other.startTransaction();
      await other.query(`INSERT INTO sql_queue_queues (queue, created_at) VALUES ('secret', 0)`);
      const [{ id }] = (await other.query('SELECT CONNECTION_ID() AS id')) as [{ id: string }];

      const found = await untilFound('transactions', world.dataSource, ({ facts }) =>
        facts.startsWith(`connection ${id} `),
      );
      await other.rollbackTransaction();

      expect(found).toMatchObject({ level: 'problem', wayOut: expect.stringContaining(`KILL ${id};`) });
      expect(found.facts).toMatch(/is idle in it: its transaction is \d+ s old and has changed 1 rows$/);
    });

    it('finds transactions that keep rows of the queue locked', async () => {
      const world = await withTables(setup);
      await world.sql(`INSERT INTO sql_queue_queues (queue, created_at) VALUES ('q', 0)`);
      const [blocker, blocked] = [world.dataSource.createQueryRunner(), world.dataSource.createQueryRunner()];
      await Promise.all([blocker.connect(), blocked.connect()]);
      world.afterTest(() => Promise.all([blocker.release(), blocked.release()]));
      await blocker.startTransaction();
      await blocker.query(`SELECT * FROM sql_queue_queues WHERE queue = 'q' FOR UPDATE`);
      const waiting = blocked.query(`UPDATE sql_queue_queues SET paused = 0 WHERE queue = 'q'`);

      const found = await untilFound('lock waits', world.dataSource, isProblem);
      await blocker.rollbackTransaction();
      await waiting;
      const [after] = await examineFor('lock waits', world.dataSource);

      expect(found.facts).toMatch(
        /has blocked 1 transactions for more than a second, on sql_queue_queues \(PRIMARY\)$/,
      );
      expect(after).toMatchObject({ level: 'ok' });
    });

    it('finds a prepared XA transaction without a connection, and the rows that it keeps locked', async () => {
      const world = await withTables(setup);
      await world.sql(`INSERT INTO sql_queue_queues (queue, created_at) VALUES ('q', 0)`);
      const xid = `'${randomBytes(8).toString('hex')}'`;
      const coordinator = await world.connect();
      const branch = coordinator.createQueryRunner();
      await branch.query(`XA START ${xid}`);
      await branch.query(`UPDATE sql_queue_queues SET paused = 1 WHERE queue = 'q'`);
      await branch.query(`XA END ${xid}`);
      await branch.query(`XA PREPARE ${xid}`);
      let isPrepared = true;
      const rollBack = async () => {
        if (isPrepared) await world.sql(`XA ROLLBACK ${xid}`);
        isPrepared = false;
      };
      world.afterTest(rollBack);
      await branch.release();
      await coordinator.destroy();
      const waiting = world.sql(`UPDATE sql_queue_queues SET paused = 0 WHERE queue = 'q'`);

      const blocking = await untilFound('lock waits', world.dataSource, ({ facts }) => facts.includes('XA'));
      const old = await untilFound('transactions', world.dataSource, ({ facts }) => facts.includes('XA'));
      await rollBack();
      await waiting;

      expect(blocking).toMatchObject({ level: 'problem', wayOut: expect.stringContaining('XA RECOVER') });
      expect(blocking.facts).toMatch(/^a prepared XA transaction has blocked 1 transactions .* sql_queue_queues/);
      expect(old).toMatchObject({ level: 'problem', wayOut: blocking.wayOut });
      expect(old.facts).toMatch(/^a prepared XA transaction is \d+ s old and has changed 1 rows$/);
    });

    it('finds that notifications do not arrive through a proxy that changes connection ids', async () => {
      const { world, proxy, dataSource } = await behindProxy(await withTables(setup));
      proxy.shiftConnectionIds(1_000_000);

      const [found] = await examineFor('notifications', dataSource);

      expect(found).toMatchObject({ level: 'problem', facts: expect.stringContaining('process list') });
      expect(await examineFor('notifications', world.dataSource)).toMatchObject([{ level: 'ok' }]);
    });
  },
  ['mysql', 'mariadb'],
);

describeServers(
  'the doctor of a server',
  ({ name }) => {
    let own: OwnServer;
    let world: World;
    let close: () => Promise<void>;

    beforeAll(async () => {
      own = await OwnServer.start(name as 'mysql' | 'mariadb');
      ({ world, close } = await openWorld(own.server, await own.emptyDatabase('own')));
      await (await world.start({ autoStart: false })).close();
    });
    afterAll(async () => {
      await close();
      await own.end();
    });

    it('finds no problem of a durable server', async () => {
      expect((await examine(world.dataSource)).filter(({ level }) => level === 'problem')).toEqual([]);
      expect(await examineFor('durability', world.dataSource)).toMatchObject([{ level: 'ok' }]);
      expect(factsOf(await examineFor('server', world.dataSource))).toEqual([
        expect.stringMatching(/^ok (MySQL|MariaDB) /),
        'note binlog_row_image = FULL',
      ]);
    });

    it.each([
      ['innodb_flush_log_at_trx_commit', '2', '1'],
      ['sync_binlog', '0', '1'],
      ['innodb_deadlock_detect', 'OFF', 'ON'],
    ])('finds %s = %s', async (setting, bad, good) => {
      await world.sql(`SET GLOBAL ${setting} = ${bad}`);
      const found = await examineFor('durability', world.dataSource);
      await world.sql(`SET GLOBAL ${setting} = ${good}`);

      expect(found).toEqual([expect.objectContaining({ level: 'problem', facts: `${setting} = ${bad}` })]);
      expect(found[0]!.wayOut).toContain(`Set ${setting} = ${good}.`);
    });

    it('finds a read-only server, a statement-based log and short packets', async () => {
      await world.sql('SET GLOBAL read_only = ON');
      await world.sql(`SET GLOBAL binlog_format = 'STATEMENT'`);
      await world.sql('SET GLOBAL max_allowed_packet = 1048576');
      const found = factsOf(await examineFor('server', world.dataSource));
      await world.sql('SET GLOBAL read_only = OFF');
      await world.sql(`SET GLOBAL binlog_format = 'ROW'`);
      await world.sql('SET GLOBAL max_allowed_packet = 67108864');

      expect(found).toContainEqual(
        expect.stringMatching(/^problem expected binlog_format ROW or MIXED, got STATEMENT/),
      );
      expect(found).toContainEqual(expect.stringMatching(/^problem expected max_allowed_packet .* got 1048576/));
      expect(found).toContainEqual(expect.stringMatching(/^problem read_only = ON/));
    });

    it('finds a long history list', async () => {
      const reader = world.dataSource.createQueryRunner();
      await reader.query('START TRANSACTION WITH CONSISTENT SNAPSHOT');
      for (let i = 0; i < 50; i++)
        await world.sql(`REPLACE INTO sql_queue_queues (queue, created_at) VALUES ('q', ${i})`);

      const found = await untilFound(
        'transactions',
        world.dataSource,
        (diagnosis) => isProblem(diagnosis) && diagnosis.facts.startsWith('the history list has'),
        { maxHistoryLength: 40 },
      );
      await reader.query('ROLLBACK');
      await reader.release();

      expect(found.wayOut).toContain('End long transactions');
    });

    it('does not know the length of the history list if its counter is switched off', async () => {
      await world.sql(`SET GLOBAL innodb_monitor_disable = 'trx_rseg_history_len'`);
      const off = await examineFor('transactions', world.dataSource);
      for (const [statement] of off.at(-1)!.wayOut?.matchAll(/SET GLOBAL .+;/g) ?? []) await world.sql(statement);
      const on = await examineFor('transactions', world.dataSource);

      expect(off.at(-1)).toMatchObject({ level: 'unknown', facts: 'the history list has an unknown length' });
      expect(on.at(-1)).toMatchObject({ level: 'ok', facts: expect.stringMatching(/^the history list has \d+ /) });
    });

    if (name === 'mysql') {
      it('finds that the redo log is disabled, with the statement that enables it', async () => {
        await world.sql('ALTER INSTANCE DISABLE INNODB REDO_LOG');
        const [found] = await examineFor('durability', world.dataSource);
        await world.sql(/ALTER INSTANCE .+;/.exec(found!.wayOut!)![0]);

        expect(found).toMatchObject({ level: 'problem', facts: 'Innodb_redo_log_enabled = OFF' });
        expect(await examineFor('durability', world.dataSource)).toMatchObject([{ level: 'ok' }]);
      });
    }

    it('finds a server that was started without the doublewrite buffer, and one that does not wait for the disk', async () => {
      await own.restart('SIGTERM', ['--innodb-doublewrite=0', '--innodb-flush-method=nosync']);

      expect(factsOf(await examineFor('durability', await world.connect()))).toEqual([
        expect.stringMatching(/^problem innodb_doublewrite = (OFF|0)$/),
        'problem innodb_flush_method = nosync',
      ]);
    });

    if (name === 'mysql') {
      it('does not know the lock waits of a server without a performance schema', async () => {
        await own.restart('SIGTERM', ['--performance-schema=OFF']);

        expect(factsOf(await examineFor('lock waits', await world.connect()))).toEqual([
          'unknown the server does not record lock waits',
        ]);
      });
    }

    // MariaDB can report any version. MySQL cannot, so a MariaDB also takes the part of an old MySQL.
    if (name === 'mariadb') {
      it.each([
        ['10.5.9-MariaDB', /^problem expected MariaDB 10\.6 or newer .* got 10\.5\.9-MariaDB/],
        ['8.0.12', /^problem expected MySQL 8\.0\.13 or newer .* got 8\.0\.12/],
        ['10.6.4-MariaDB', /^note MariaDB 10\.6\.4/],
      ])('judges a server by the version that it reports: %s', async (version, facts) => {
        await own.restart('SIGTERM', [`--version=${version}`]);

        expect(factsOf(await examineFor('server', await world.connect()))[0]).toMatch(facts);
      });
    }
  },
  ['mysql', 'mariadb'],
);

describeEngines(
  'the doctor of a file',
  (setup) => {
    it('finds another journal mode, and does not change it', async () => {
      const world = await withTables(setup);
      await world.sql('PRAGMA journal_mode = DELETE');

      const found = await examine(world.dataSource);

      expect(found).toContainEqual(expect.objectContaining({ level: 'problem', facts: 'journal_mode = delete' }));
      expect(found).toContainEqual(expect.objectContaining({ level: 'problem', check: 'notifications' }));
      expect(await world.sql('PRAGMA journal_mode')).toEqual([{ journal_mode: 'delete' }]);
    });

    it('names a connection of the application whose commits a power failure can lose', async () => {
      const world = await withTables(setup);
      const byDefault = factsOf(await examineFor('file', world.dataSource));
      await world.sql('PRAGMA synchronous = OFF');
      const off = factsOf(await examineFor('file', world.dataSource));
      await world.sql('PRAGMA synchronous = FULL');
      const full = factsOf(await examineFor('file', world.dataSource));

      expect(byDefault).toContain('note synchronous = NORMAL by default');
      expect(off).toContain('note synchronous = OFF by default');
      expect(full).toContain('ok synchronous = FULL');
    });

    it('finds a program that keeps the file locked, and a write-ahead log that it keeps long', async () => {
      const world = await withTables(setup);
      const other = await world.connect();
      await other.query('BEGIN IMMEDIATE');
      await other.query('CREATE TABLE large (bytes BLOB)');
      await other.query('PRAGMA cache_size = 10');
      await other.query('INSERT INTO large VALUES (zeroblob(70000000))');
      await other.query('COMMIT');
      await other.query('BEGIN IMMEDIATE');

      const found = await examineFor('file', world.dataSource);
      await other.query('ROLLBACK');

      expect(found).toContainEqual(
        expect.objectContaining({ level: 'problem', facts: expect.stringMatching(/^the write lock was taken/) }),
      );
      expect(found).toContainEqual(
        expect.objectContaining({ level: 'problem', facts: expect.stringMatching(/^the write-ahead log has \d+ MiB/) }),
      );
    });
  },
  ['sqlite'],
);
