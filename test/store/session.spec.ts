import { randomBytes } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { MysqlPool } from '../../lib/store/databases/mysql/mysql-pool.js';
import { hostList } from '../../lib/store/databases/port/hosts.js';
import { Hosts } from '../../lib/store/databases/mysql/mysql-connections.js';
import { mysql } from '../../lib/store/databases/mysql/mysql.js';
import { executeFinal, query, statement } from '../../lib/store/core/statement.js';
import { Templates } from '../../lib/store/core/template.js';
import { openLeaseStore } from '../../lib/store/open-lease-store.js';
import { tableNames } from '../../lib/store/tables/table-names.js';
import { systemClock } from '../../lib/common/clock.js';
import { FakeClock } from '../support/fake-clock.js';
import { claimFrom, claimRequest, finalBatchOf, newJob } from '../support/jobs.js';
import { interceptingDriver } from '../support/intercepting-driver.js';
import { rewritingDriver } from '../support/rewriting-driver.js';
import { describeStoresOf, type World } from '../support/stores.js';
import { WireProxy } from '../support/wire-proxy.js';

const LEASE_MS = 30_000;
const ENDS_AND_LIMITS = `
  SELECT @@SESSION.completion_type AS completion,
         /*!80000 @@SESSION.max_execution_time */ /*M! @@SESSION.max_statement_time */ AS most`;
const ROW_IMAGE = 'SELECT @@SESSION.binlog_row_image AS image';

describeStoresOf(['mysql', 'mariadb'], 'the library’s own connections', (setup) => {
  it('keep payloads out of the binary log if they have the privilege', async () => {
    const { connect } = await setup();

    expect(await rowImages(await connect())).toEqual(['MINIMAL', 'MINIMAL']);
  });

  it('work without the privilege for a smaller binary log', async () => {
    const world = await setup();

    expect(await rowImages(await world.connect(await plainAccount(world)))).toEqual(['FULL', 'FULL']);
  });

  // A Galera node can undo a transaction between two statements of one text without an error, and run the rest.
  it('send one statement at a time to a Galera node, unless they only read', async () => {
    const { connect, open } = await setup();
    const texts: string[] = [];
    const driver = rewritingDriver((sql) => {
      texts.push(sql);
      return sql.includes('wsrep_cluster_size') ? `SELECT 'wsrep_cluster_size' AS Variable_name, '3' AS Value` : sql;
    });
    const { jobs } = await open({ dataSource: await connect({ driver }) });
    texts.length = 0;

    await jobs.enqueue([newJob(), newJob()]);
    const taken = await claimFrom(jobs, { limit: 2 });
    await jobs.completeAndClaim(finalBatchOf(taken), claimRequest());

    expect(taken.jobs).toHaveLength(2);
    expect(texts.filter((text) => text === 'COMMIT')).toHaveLength(3);
    const together = texts.filter((text) => text.includes(';\n'));
    expect(together.filter((text) => /INSERT|UPDATE|DELETE|REPLACE/.test(text))).toEqual([]);
  });

  it('neither chain transactions nor limit statements, for any default of the server', async () => {
    const { connect } = await setup();
    const begun = `SET SESSION completion_type = 'CHAIN' /*!80000 , max_execution_time = 9 */ /*M! , max_statement_time = 9 */`;
    const driver = interceptingDriver(async (sql, ask) => {
      if (sql.includes('ISOLATION LEVEL')) await ask(begun);
    });
    const templates = new Templates(tableNames(), mysql);
    const pool = await MysqlPool.open(await connect({ driver }), templates, systemClock, LEASE_MS);
    afterTest.push(() => pool.close());

    const [row] = await pool.runIdempotent(() => query<Record<'completion' | 'most', unknown>>(ENDS_AND_LIMITS));

    expect([row!.completion, Number(row!.most)]).toEqual(['NO_CHAIN', 0]);
  });

  it.each([
    ['character_set_client', `'utf8mb4'`, `'gbk'`],
    ['character_set_results', `'utf8mb4'`, `'latin1'`],
    ['collation_connection', `'utf8mb4_bin'`, `'latin1_bin'`],
    ['sql_mode', `'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION'`, `''`],
    ['sql_select_limit', '18446744073709551615', '9'],
  ])('are refused if the session does not keep the setting of %s', async (setting, required, kept) => {
    const { connect } = await setup();
    const driver = rewritingDriver((sql) => sql.replace(`${setting} = ${required}`, `${setting} = ${kept}`));
    const templates = new Templates(tableNames(), mysql);
    const pool = await MysqlPool.open(await connect({ driver }), templates, systemClock, LEASE_MS);
    afterTest.push(() => pool.close());

    const asking = pool.runIdempotent(() => query('SELECT 1 AS one'));

    await expect(asking).rejects.toMatchObject({
      code: 'UNSUPPORTED_DATABASE',
      message: expect.stringContaining(`expected ${setting} = `) as string,
    });
  });

  it('wait only briefly for a table that is being altered', async () => {
    const { dataSource, connect } = await setup();
    const templates = new Templates(tableNames(), mysql);
    const pool = await MysqlPool.open(await connect(), templates, systemClock, LEASE_MS);
    afterTest.push(() => pool.close());
    const changing = dataSource.createQueryRunner();
    afterTest.push(() => changing.release());
    await changing.query('LOCK TABLES sql_queue_jobs WRITE');

    const waiting = pool.transaction(() => query('SELECT id FROM {jobs}'), 1);

    await expect(waiting).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', locked: true });
    await changing.query('UNLOCK TABLES');
  });

  // Galera nodes do not share locks, so writes of one process on two nodes can undo each other.
  it('all move to one node of a cluster after a failover', async () => {
    const { dataSource } = await setup();
    const { url } = dataSource.options as { url: string };
    const nodes = [await WireProxy.open(url), await WireProxy.open(url)] as const;
    nodes.forEach((node) => afterTest.push(() => node.close()));
    const [first] = nodes;
    const list = hostList(nodes.map(({ port }) => `127.0.0.1:${port}`));
    const templates = new Templates(tableNames(), mysql);
    const pool = await MysqlPool.open(dataSource, templates, systemClock, LEASE_MS, new Hosts(list));
    afterTest.push(() => pool.close());
    const ask = (times: number) =>
      Promise.all(Array.from({ length: times }, () => pool.runIdempotent(() => query('SELECT 1 AS one'))));
    await ask(3);

    first.onStatement(({ sql }) => (sql.includes('read_only') ? 'cut' : 'pass'));
    await ask(5);
    const onFirst: string[] = [];
    first.onStatement(({ sql }) => {
      onFirst.push(sql);
      return 'pass';
    });
    await ask(5);

    expect(onFirst).toEqual([]);
  });

  it('go to the port of the DataSource on a node without a port', async () => {
    const { dataSource, open } = await setup();
    const { options } = dataSource;
    const hosts = hostList([new URL((options as { url: string }).url).hostname]);

    const { jobs } = await open({ hosts });
    const leases = await openLeaseStore({ options, hosts, tables: tableNames(), shortestLeaseMs: LEASE_MS, skewMs: 0 });
    afterTest.push(() => leases.close());

    expect(await jobs.enqueue([newJob()])).toHaveLength(1);
    await expect(leases.markSeen('worker')).resolves.toBe(false);
  });

  // MySQL and older releases of MariaDB have numbers, MariaDB 12 has texts.
  it.each(['0', `'OFF'`])('use a node of a cluster whose read_only is %s', async (value) => {
    const { connect } = await setup();

    const asking = askOneNode(await connect({ driver: withReadOnly(value) }));

    await expect(asking).resolves.toEqual([{ one: 1 }]);
  });

  it.each(['1', `'ON'`, `'NO_LOCK'`, `'NO_LOCK_NO_ADMIN'`])(
    'use no node of a cluster whose read_only is %s',
    async (value) => {
      const { connect } = await setup();

      const asking = askOneNode(await connect({ driver: withReadOnly(value) }));

      await expect(asking).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        message: expect.stringContaining('The node is read-only') as string,
      });
    },
  );

  // The server may have closed them. A statement would be sent before the process reads that.
  it('get no further statement after they were idle for almost as long as the server waits', async () => {
    const { connect } = await setup();
    const texts: string[] = [];
    const driver = rewritingDriver((sql) => {
      texts.push(sql);
      return sql;
    });
    const clock = new FakeClock();
    const templates = new Templates(tableNames(), mysql);
    const pool = await MysqlPool.open(await connect({ driver }), templates, clock, LEASE_MS);
    afterTest.push(() => pool.close());
    const connectionId = () => query<{ id: number }>('SELECT CONNECTION_ID() AS id');
    const ids: unknown[] = [];
    const kept = await pool.openDedicated();
    const keptId = await kept.send(connectionId);
    const pauses = [LEASE_MS * 0.8, 0];

    // The pause within the transaction makes the pool repeat it.
    await pool.transaction(function* () {
      ids.push(...(yield* connectionId()));
      void clock.advance(pauses.shift()!);
      ids.push(...(yield* connectionId()));
    });
    await clock.advance(LEASE_MS * 0.8);
    ids.push(...(await pool.runIdempotent(connectionId)));

    const [paused, repeated, last, afterPause] = ids;
    expect(repeated).not.toEqual(paused);
    expect(last).toEqual(repeated);
    expect(afterPause).not.toEqual(last);
    expect(texts.filter((text) => text.endsWith('DO 0'))).toEqual([]);
    expect(await kept.send(connectionId)).toEqual(keptId);
    kept.drop();
  });

  it('repeat no transaction that has committed before they were idle for so long', async () => {
    const { connect, sql } = await setup();
    const clock = new FakeClock();
    const pool = await MysqlPool.open(await connect(), new Templates(tableNames(), mysql), clock, LEASE_MS);
    afterTest.push(() => pool.close());

    const writing = pool.transaction(function* () {
      yield* executeFinal([statement(`INSERT INTO {jobs} (queue, payload) VALUES ('q', '1')`)]);
      void clock.advance(LEASE_MS * 0.8);
      yield* query('SELECT 1 AS one');
    });

    await expect(writing).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', outcome: 'unknown' });
    expect(await sql('SELECT id FROM sql_queue_jobs')).toHaveLength(1);
  });

  it('are all replaced together when they have fallen silent together', async () => {
    const { dataSource } = await setup();
    const { url } = dataSource.options as { url: string };
    const proxy = await WireProxy.open(url);
    afterTest.push(() => proxy.close());
    const proxied = new URL(url);
    proxied.port = String(proxy.port);
    const options = { ...dataSource.options, url: proxied.href } as DataSource['options'];
    const clock = new FakeClock();
    const templates = new Templates(tableNames(), mysql);
    const pool = await MysqlPool.open({ options } as DataSource, templates, clock, LEASE_MS);
    afterTest.push(() => pool.close());
    const ask = () => pool.runIdempotent(() => query<{ one: number }>('SELECT 1 AS one'));
    await Promise.all([ask(), ask(), ask(), ask()]);
    await clock.advance(LEASE_MS / 2);

    const asked = new Promise<void>((resolve) => {
      proxy.onStatement(({ sql }) => {
        if (!sql.endsWith('DO 0')) return 'pass';
        proxy.silenceConnections();
        resolve();
        return 'silent';
      });
    });
    const answer = ask();
    await asked;
    await clock.advance(LEASE_MS);

    expect(await answer).toEqual([{ one: 1 }]);
  });

  /** Returns the setting of two connections that are open at the same time. */
  async function rowImages(dataSource: Parameters<typeof MysqlPool.open>[0]): Promise<unknown[]> {
    const pool = await MysqlPool.open(dataSource, new Templates(tableNames(), mysql), systemClock, 30_000);
    const borrowed = [await pool.openDedicated(), await pool.openDedicated()];
    const rows = await Promise.all(borrowed.map(({ send }) => send(() => query<{ image: string }>(ROW_IMAGE))));
    borrowed.forEach(({ drop }) => drop());
    await pool.close();
    return rows.map(([row]) => row!.image);
  }

  const withReadOnly = (value: string) => rewritingDriver((sql) => sql.replace('@@GLOBAL.read_only', value));

  /** Uses the server of the DataSource as the only node of a cluster. */
  async function askOneNode(dataSource: DataSource): Promise<unknown> {
    const { host } = new URL((dataSource.options as { url: string }).url);
    const templates = new Templates(tableNames(), mysql);
    const pool = await MysqlPool.open(dataSource, templates, systemClock, LEASE_MS, new Hosts(hostList([host])));
    afterTest.push(() => pool.close());
    return pool.runIdempotent(() => query('SELECT 1 AS one'));
  }

  async function plainAccount({ sql, dataSource }: World) {
    const account = `plain_${randomBytes(4).toString('hex')}`;
    const { database } = dataSource.driver as { database?: string };
    await sql(`CREATE USER '${account}'@'%'`);
    afterTest.push(() => sql(`DROP USER '${account}'@'%'`));
    await sql(`GRANT ALL ON ${database}.* TO '${account}'@'%'`);
    const url = new URL((dataSource.options as { url: string }).url);
    url.username = account;
    return { url: url.href };
  }
});

const afterTest: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const drop of afterTest.splice(0)) await drop();
});
