import { randomBytes } from 'node:crypto';
import mysql2 from 'mysql2/promise';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { systemClock } from '../../lib/common/clock.js';
import { openStore, type OpenStore } from '../../lib/store/open-store.js';
import { claimFrom, finalBatchOf, newJob, outcomes } from '../support/jobs.js';
import { OwnServer } from '../support/own-server.js';
import { describeServers } from '../support/servers.js';

const TEXTS = ['い', 'é', '日', '汁', 'ス', '😀', 'ā', '\\', "'", '{[~@'].map((odd) =>
  JSON.stringify(`${odd}'); DELETE FROM victim; -- `),
);

// An account that is no administrator, because init_connect does not run for those.
const PRIVILEGES = 'SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, LOCK TABLES, REFERENCES';

describeServers(
  'a server that gives sessions its own settings',
  ({ name }) => {
    let own: OwnServer;
    let root: mysql2.Connection;
    const afterTest: (() => Promise<unknown>)[] = [];

    beforeAll(async () => {
      own = await OwnServer.start(name as 'mysql' | 'mariadb');
      root = await mysql2.createConnection(own.server.url);
    });
    afterEach(async () => {
      for (const cleanup of afterTest.splice(0).reverse()) await cleanup();
    });
    afterAll(async () => {
      root.destroy();
      await own.end();
    });

    /** A store, the application's own connections, and a table with two rows, all of an account without privileges. */
    async function openFor(database = `d${randomBytes(4).toString('hex')}`) {
      const { type, url } = (await own.emptyDatabase(database)) as { type: 'mysql' | 'mariadb'; url: string };
      await root.query(`CREATE TABLE ${database}.victim (id INT)`);
      await root.query(`INSERT INTO ${database}.victim VALUES (1), (2)`);
      await root.query(`CREATE USER ${database}@'%'`);
      await root.query(`GRANT ${PRIVILEGES} ON ${database}.* TO ${database}@'%'`);
      const options = { type, url: url.replace('root@', `${database}@`) } as DataSourceOptions;
      const dataSource = await new DataSource(options).initialize();
      afterTest.push(() => dataSource.destroy());
      const settings = { clock: systemClock, shortestLeaseMs: 30_000, largestPayloadBytes: 1_048_576 };
      const store = await openStore({ dataSource, migrate: 'run', ...settings });
      afterTest.push(() => store.jobs.close());
      const victims = async () => (await root.query<mysql2.RowDataPacket[]>(`SELECT id FROM ${database}.victim`))[0];
      return { dataSource, store, victims };
    }

    async function setGlobal(setting: string, value: string): Promise<void> {
      await root.query(`SET GLOBAL ${setting} = ${value}`);
      afterTest.push(() => root.query(`SET GLOBAL ${setting} = DEFAULT`));
    }

    /** Stores the texts alone and in a transaction of the application, and reads them as payloads and as results. */
    async function keepsTexts({ jobs, admin }: OpenStore, dataSource: DataSource): Promise<void> {
      const ids = await jobs.enqueue(TEXTS.map((payload) => newJob({ payload })));
      const more = await dataSource.transaction((manager) =>
        jobs.enqueue(
          TEXTS.map((payload) => newJob({ payload })),
          manager,
        ),
      );
      const taken = await claimFrom(jobs, { limit: 99, startLimit: 99 });
      expect(taken.jobs.map(({ payload }) => payload)).toEqual([...TEXTS, ...TEXTS]);
      const [first, ...others] = taken.jobs;
      await jobs.complete(finalBatchOf({ ...taken, jobs: [first!] }, { kind: 'complete', result: first!.payload }));
      await jobs.complete(finalBatchOf({ ...taken, jobs: others }, outcomes.dead));
      expect(await admin.get(ids[0]!)).toMatchObject({ result: JSON.parse(TEXTS[0]!) as unknown });
      await dataSource.transaction((manager) => admin.retry(more, { transaction: manager }));
      const records = await Promise.all(more.map((id) => admin.get(id)));
      expect(records.map((record) => JSON.stringify(record!.payload))).toEqual(TEXTS);
    }

    it.each(['gbk', 'sjis', 'cp932', 'big5', 'gb18030', 'latin1', 'utf8mb3'])(
      'executes no payload and damages none if the sessions start with SET NAMES %s',
      async (charset) => {
        const [known] = await root.query<mysql2.RowDataPacket[]>('SHOW CHARACTER SET LIKE ?', [charset]);
        if (known.length === 0) return;
        // The driver learns nothing of the change.
        await setGlobal('session_track_system_variables', `''`);
        await setGlobal('init_connect', `'SET NAMES ${charset}'`);
        const { dataSource, store, victims } = await openFor();

        await keepsTexts(store, dataSource);

        expect(await victims()).toHaveLength(2);
      },
    );

    it('cuts no answer if sql_select_limit is 1', async () => {
      await setGlobal('sql_select_limit', '1');
      const { dataSource, store } = await openFor();

      await keepsTexts(store, dataSource);

      const ids = await store.jobs.enqueue([newJob(), newJob(), newJob()]);
      expect([...(await store.waits.readJobs(ids)).keys()]).toEqual(ids);
    });

    it.each(['compact', 'redundant'])('has tables if their default row format is %s', async (format) => {
      await setGlobal('innodb_default_row_format', format);
      const { store } = await openFor();

      expect(await store.jobs.enqueue([newJob()])).toHaveLength(1);
    });

    // MySQL has no such option any more.
    if (name === 'mysql') return;

    it('executes no payload and damages none if it ignores the character set of the driver', async () => {
      root.destroy();
      const ignored = '--skip-character-set-client-handshake';
      await own.restart('SIGTERM', [ignored, '--character-set-server=gbk', '--collation-server=gbk_chinese_ci']);
      root = await mysql2.createConnection(own.server.url);
      const { dataSource, store, victims } = await openFor();

      await keepsTexts(store, dataSource);

      expect(await victims()).toHaveLength(2);
    });
  },
  ['mysql', 'mariadb'],
);
