import { randomBytes } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { MysqlPool } from '../../lib/store/dialects/mysql-pool.js';
import { Hosts, hostList } from '../../lib/store/dialects/hosts.js';
import { mysql } from '../../lib/store/dialects/mysql.js';
import { query } from '../../lib/store/sql/statement.js';
import { Templates } from '../../lib/store/sql/template.js';
import { tableNames } from '../../lib/store/tables.js';
import { systemClock } from '../../lib/time/clock.js';
import { FakeClock } from '../support/fake-clock.js';
import { claimOf, endOf, newJob } from '../support/jobs.js';
import { recordingDriver } from '../support/recording-driver.js';
import { rewritingDriver } from '../support/rewriting-driver.js';
import { describeStoresOf, type World } from '../support/stores.js';
import { WireProxy } from '../support/wire-proxy.js';

const LEASE_MS = 30_000;
const ENDS_AND_LIMITS = `
  SELECT @@SESSION.completion_type AS completion,
         /*!80000 @@SESSION.max_execution_time */ /*M! @@SESSION.max_statement_time */ AS most`;
const ROW_IMAGE = 'SELECT @@SESSION.binlog_row_image AS image';

describeStoresOf(['mysql', 'mariadb'], 'the library’s own connections', (setup) => {
  it('keep payloads out of the binary log where they may', async () => {
    const { connect } = await setup();

    expect(await rowImages(await connect())).toEqual(['MINIMAL', 'MINIMAL']);
  });

  it('do without the privilege for that', async () => {
    const world = await setup();

    expect(await rowImages(await world.connect(await plainAccount(world)))).toEqual(['FULL', 'FULL']);
  });

  // Where it gives up a transaction between two statements of a text it says nothing, and goes on with the rest.
  it('send a node of Galera one statement at a time', async () => {
    const { connect, open } = await setup();
    const texts: string[] = [];
    const driver = rewritingDriver((sql) => {
      texts.push(sql);
      return sql.includes('wsrep_cluster_size') ? `SELECT 'wsrep_cluster_size' AS Variable_name, '3' AS Value` : sql;
    });
    const { jobs } = await open({ dataSource: await connect({ driver }) });
    texts.length = 0;

    await jobs.enqueue([newJob(), newJob()]);
    const request = claimOf({ limit: 2 });
    const taken = { id: request.claimId, workerId: request.workerId, jobs: await jobs.claim(request) };
    await jobs.settleAndClaim(endOf(taken), claimOf());

    expect(taken.jobs).toHaveLength(2);
    expect(texts.filter((text) => text === 'COMMIT')).toHaveLength(3);
    expect(texts.filter((text) => text.includes(';\n'))).toEqual([]);
  });

  it('neither chain transactions nor limit statements, whatever a server does with new sessions', async () => {
    const { connect } = await setup();
    const begun = `SET SESSION completion_type = 'CHAIN' /*!80000 , max_execution_time = 9 */ /*M! , max_statement_time = 9 */`;
    const driver = recordingDriver(async (sql, ask) => {
      if (sql.includes('ISOLATION LEVEL')) await ask(begun);
    });
    const templates = new Templates(tableNames(), mysql.now, () => 0);
    const pool = await MysqlPool.open(await connect({ driver }), templates, systemClock, LEASE_MS);
    afterTest.push(() => pool.close());

    const [row] = await pool.repeatable(() => query<Record<'completion' | 'most', unknown>>(ENDS_AND_LIMITS));

    expect([row!.completion, Number(row!.most)]).toEqual(['NO_CHAIN', 0]);
  });

  it('do not wait for long for a table that somebody changes', async () => {
    const { dataSource, connect } = await setup();
    const templates = new Templates(tableNames(), mysql.now, () => 0);
    const pool = await MysqlPool.open(await connect(), templates, systemClock, LEASE_MS);
    afterTest.push(() => pool.close());
    const changing = dataSource.createQueryRunner();
    afterTest.push(() => changing.release());
    await changing.query('LOCK TABLES sql_queue_jobs WRITE');

    const waiting = pool.transaction(() => query('SELECT id FROM {jobs}'), 1);

    await expect(waiting).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', locked: true });
    await changing.query('UNLOCK TABLES');
  });

  // On Galera, nodes do not know each other's locks: what a process does on one of them undoes what it does on another.
  it('go to one node of a cluster, all of them, when the one before has been left', async () => {
    const { dataSource } = await setup();
    const { url } = dataSource.options as { url: string };
    const nodes = [await WireProxy.open(url), await WireProxy.open(url)] as const;
    nodes.forEach((node) => afterTest.push(() => node.close()));
    const [first] = nodes;
    const list = hostList(nodes.map(({ port }) => `127.0.0.1:${port}`));
    const templates = new Templates(tableNames(), mysql.now, () => 0);
    const pool = await MysqlPool.open(dataSource, templates, systemClock, LEASE_MS, new Hosts(list));
    afterTest.push(() => pool.close());
    const ask = (times: number) =>
      Promise.all(Array.from({ length: times }, () => pool.repeatable(() => query('SELECT 1 AS one'))));
    await ask(3);

    first.decide(({ sql }) => (sql.includes('read_only') ? 'cut' : 'pass'));
    await ask(5);
    const onFirst: string[] = [];
    first.decide(({ sql }) => {
      onFirst.push(sql);
      return 'pass';
    });
    await ask(5);

    expect(onFirst).toEqual([]);
  });

  it('that have fallen silent together are given up together', async () => {
    const { dataSource } = await setup();
    const { url } = dataSource.options as { url: string };
    const proxy = await WireProxy.open(url);
    afterTest.push(() => proxy.close());
    const proxied = new URL(url);
    proxied.port = String(proxy.port);
    const options = { ...dataSource.options, url: proxied.href } as DataSource['options'];
    const clock = new FakeClock();
    const templates = new Templates(tableNames(), mysql.now, () => 0);
    const pool = await MysqlPool.open({ options } as DataSource, templates, clock, LEASE_MS);
    afterTest.push(() => pool.close());
    const ask = () => pool.repeatable(() => query<{ one: number }>('SELECT 1 AS one'));
    await Promise.all([ask(), ask(), ask(), ask()]);
    await clock.advance(LEASE_MS);

    proxy.silenceOpen();
    const answer = ask();
    await clock.resting(LEASE_MS);
    await clock.advance(LEASE_MS);

    expect(await answer).toEqual([{ one: 1 }]);
  }, 10_000);

  /** Of two connections, open at the same time. */
  async function rowImages(dataSource: Parameters<typeof MysqlPool.open>[0]): Promise<unknown[]> {
    const pool = await MysqlPool.open(dataSource, new Templates(tableNames(), mysql.now, () => 0), systemClock, 30_000);
    const borrowed = [await pool.borrow(), await pool.borrow()];
    const rows = await Promise.all(borrowed.map(({ send }) => send(() => query<{ image: string }>(ROW_IMAGE))));
    borrowed.forEach(({ drop }) => drop());
    await pool.close();
    return rows.map(([row]) => row!.image);
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
