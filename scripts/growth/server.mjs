// The server of a measurement, with databases in which a store of the library is open.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import mysql from 'mysql2/promise';
import { DataSource } from 'typeorm';

const PREFIX = 'sql_queue_growth_';
const PAGES = 'Innodb_buffer_pool_read_requests';
const TABLES = ['jobs', 'claims', 'history', 'queues', 'groups', 'steps', 'signals', 'edges', 'flows'];

export function openServer(kind, run, library) {
  return kind === 'sqlite' ? openSqlite(run, library) : openMysql(kind, run, library);
}

async function openMysql(kind, run, library) {
  const { url, reason } = await run.server(kind);
  if (!url) throw new Error(reason);
  const connection = await mysql.createConnection(url);
  const [[{ version }]] = await connection.query('SELECT VERSION() AS version');
  const readAll = async () => {
    const [counters] = await connection.query(
      `SHOW GLOBAL STATUS WHERE Variable_name LIKE 'Handler\\_read\\_%' OR Variable_name = '${PAGES}'`,
    );
    const sumOf = (isCounted) =>
      counters.filter((one) => isCounted(one.Variable_name)).reduce((sum, { Value }) => sum + Number(Value), 0);
    return { rows: sumOf((name) => name !== PAGES), pages: sumOf((name) => name === PAGES) };
  };
  const first = await readAll();
  const second = await readAll();
  // A read of the counters counts its own rows as well.
  const own = { rows: second.rows - first.rows, pages: second.pages - first.pages };
  let isOver = false;
  const drop = async (database) => {
    const [found] = await connection.query('SELECT id FROM information_schema.processlist WHERE db = ?', [database]);
    for (const { id, ID = id } of found) await connection.query(`KILL ${ID}`).catch(() => undefined);
    await connection.query(`DROP DATABASE IF EXISTS ${database}`);
  };
  return {
    version: `${kind} ${version}`,
    /** The rows and the pages that all sessions read for the call. */
    async countReads(act) {
      const before = await readAll();
      const answer = await act();
      const after = await readAll();
      return { answer, rows: after.rows - before.rows - own.rows, pages: after.pages - before.pages - own.pages };
    },
    async createWorld(name, size) {
      const database = PREFIX + name;
      await drop(database);
      await connection.query(`CREATE DATABASE ${database}`);
      const options = { type: kind, url: `${url.replace(/\/$/, '')}/${database}` };
      const world = await openWorld({
        kind,
        options,
        size,
        library,
        snapshot: 'START TRANSACTION WITH CONSISTENT SNAPSHOT',
      });
      const tables = TABLES.map((table) => `sql_queue_${table}`);
      return Object.assign(world, {
        analyze: () => world.sql(`ANALYZE TABLE ${tables.join(', ')}`),
        close: () => world.closeStores().then(() => drop(database)),
      });
    },
    async end() {
      if (isOver) return;
      isOver = true;
      for (const name of ['small', 'large']) await drop(PREFIX + name);
      await connection.end();
    },
  };
}

/** SQLite counts no reads. */
async function openSqlite(run, library) {
  const folder = run.file('growth');
  await mkdir(folder, { recursive: true });
  let files = 0;
  return {
    version: 'sqlite',
    countReads: async (act) => ({ answer: await act(), rows: NaN, pages: NaN }),
    async createWorld(name, size) {
      const options = { type: 'better-sqlite3', database: join(folder, `${name}-${files++}.sqlite`) };
      const world = await openWorld({ kind: 'sqlite', options, size, library, snapshot: 'BEGIN' });
      return Object.assign(world, { analyze: () => Promise.resolve(), close: world.closeStores });
    },
    // The run removes its files.
    end: () => Promise.resolve(),
  };
}

async function openWorld({ kind, options, size, library, snapshot }) {
  const dataSource = await new DataSource(options).initialize();
  const opened = [];
  const connected = [dataSource];
  const open = async () => {
    const store = await library.openStore({
      dataSource,
      migrate: 'run',
      clock: library.systemClock,
      skewMs: () => 0,
      shortestLeaseMs: 30_000,
      largestPayloadBytes: 1_048_576,
    });
    opened.push(store);
    return store;
  };
  return {
    ...{ kind, size, library, open },
    store: await open(),
    sql: (statement) => dataSource.query(statement),
    /** Opens a transaction on another connection, which reads the present rows until the end. */
    async keepSnapshot() {
      const other = await new DataSource(options).initialize();
      connected.push(other);
      const runner = other.createQueryRunner();
      await runner.query(snapshot);
      await runner.query('SELECT id FROM sql_queue_jobs LIMIT 1');
    },
    /** Like another process. */
    async withAnotherStore(act) {
      const store = await open();
      try {
        return await act(store);
      } finally {
        await store.jobs.close();
        opened.splice(opened.indexOf(store), 1);
      }
    },
    /** Replaces the store, so that it gives no id of a copied row to a job. */
    async reopen() {
      await this.store.jobs.close();
      opened.splice(opened.indexOf(this.store), 1);
      this.store = await open();
    },
    async closeStores() {
      for (const store of opened) await store.jobs.close();
      for (const each of connected) await each.destroy();
    },
  };
}
