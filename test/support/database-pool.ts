import { readdir, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import mysql, { type Connection, type ResultSetHeader, type RowDataPacket } from 'mysql2/promise';
import { DataSource } from 'typeorm';
import { systemClock } from '../../lib/common/clock.js';
import { openStore } from '../../lib/store/open-store.js';
import { tableNames } from '../../lib/store/tables/table-names.js';
import { freshDatabase, type TestConnection, type TestDatabase, type TestServer } from './servers.js';

// The migrations take a third of a second on a server, and the deletion of their tables a tenth: longer than most tests
// take. So the test files of a run share databases. scripts/test.mjs creates the folder and drops the databases at the
// end. The folder has a file for each free database; the process that deletes the file owns the database.
const folder = process.env.SQL_QUEUE_TEST_POOL;
/** More deleted rows would slow the next test down, until the server has purged them. */
const MOST_ROWS = 1_000;
/** Tables without rows since their creation have none. */
const NEXT_ID = / AUTO_INCREMENT=(\d+)/;
const SCHEMA = tableNames().schema;
const EMPTIED = Object.values(tableNames()).filter((table) => table !== SCHEMA);

/** A database with the empty tables of the library. `drop()` lets the next test use it, if its tables are unchanged. */
export async function pooledDatabase(server: TestServer): Promise<TestDatabase> {
  if (server.name === 'sqlite' || !folder) return freshDatabase(server);
  const { connection, definition } = (await takeFree(folder, server)) ?? (await createNext(server));
  const name = new URL(connection.url).pathname.slice(1);
  return {
    server,
    connection,
    drop: async () => {
      const admin = await connect(connection);
      try {
        if (await isReusable(admin, { connection, definition }))
          await addFree(folder, `${server.name}.${name}`, definition);
        else await admin.query(`DROP DATABASE IF EXISTS ${name}`);
      } finally {
        await admin.end();
      }
    },
  };
}

/**
 * Deletes the rows of all tables, on a connection of its own, which `end` closes. Ids go on: a store that stays open
 * remembers the last ones.
 */
export async function rowDeleter(connection: Pooled['connection']) {
  const admin = await connect(connection);
  return {
    deleteRows: async () => {
      const deleted = await deleteSome(admin, () => []);
      for (const [index, table] of EMPTIED.entries()) if (deleted[index]! > MOST_ROWS) await truncate(admin, table);
    },
    end: () => admin.end(),
  };
}

/** A round trip costs more than most of these statements, so the connection accepts several at once. */
function connect({ url }: Pooled['connection']): Promise<Connection> {
  return mysql.createConnection({ uri: url, multipleStatements: true });
}

/** Deletes the rows of each table, or one more than a database may have had. Returns their numbers. */
async function deleteSome(admin: Connection, alsoFor: (table: string) => readonly string[]): Promise<number[]> {
  const deletions = EMPTIED.map((table) => `DELETE FROM ${table} LIMIT ${MOST_ROWS + 1}`);
  const [results] = await admin.query<ResultSetHeader[]>([...deletions, ...EMPTIED.flatMap(alsoFor)].join(';'));
  return results.slice(0, EMPTIED.length).map(({ affectedRows }) => affectedRows);
}

/** Takes no longer for a million rows. */
async function truncate(admin: Connection, table: string): Promise<void> {
  const nextId = NEXT_ID.exec((await statementsOf(admin, [table])).get(table)!)?.[1];
  await admin.query(`TRUNCATE TABLE ${table}`);
  if (nextId !== undefined) await admin.query(`ALTER TABLE ${table} AUTO_INCREMENT = ${nextId}`);
}

interface Pooled {
  connection: Extract<TestConnection, { url: string }>;
  /** The tables as the migrations have made them. */
  definition: string;
}

async function addFree(path: string, file: string, definition: string): Promise<void> {
  await writeFile(join(path, `.${file}`), definition);
  await rename(join(path, `.${file}`), join(path, file));
}

async function takeFree(path: string, server: TestServer): Promise<Pooled | undefined> {
  for (const file of await readdir(path)) {
    const [type, name] = file.split('.');
    if (type !== server.name) continue;
    const definition = await readFile(join(path, file), 'utf8').catch(() => undefined);
    const isOurs = await unlink(join(path, file)).then(
      () => true,
      () => false,
    );
    if (!isOurs || definition === undefined) continue;
    const url = new URL(server.url);
    url.pathname = `/${name}`;
    return { connection: { type: server.name as 'mysql' | 'mariadb', url: url.href }, definition };
  }
  return undefined;
}

async function createNext(server: TestServer): Promise<Pooled> {
  const { connection } = (await freshDatabase(server)) as TestDatabase & Pick<Pooled, 'connection'>;
  const dataSource = await new DataSource(connection).initialize();
  const opened = await openStore({
    dataSource,
    migrate: 'run',
    clock: systemClock,
    shortestLeaseMs: 30_000,
    largestPayloadBytes: 1_048_576,
  });
  await opened.jobs.close();
  await dataSource.destroy();
  const admin = await connect(connection);
  const definition = await definitionOf(admin, await readStatements(admin));
  await admin.end();
  return { connection, definition };
}

async function isReusable(admin: Connection, { connection, definition }: Pooled): Promise<boolean> {
  if (!(await endConnections(admin, connection))) return false;
  const statements = await readStatements(admin);
  return (await definitionOf(admin, statements)) === definition && (await startAnew(admin, statements));
}

/** MySQL's processlist has the texts of all statements, and fails if one of them fits no older character set. */
const OTHERS = {
  mysql:
    'SELECT processlist_id AS id FROM performance_schema.threads ' +
    'WHERE processlist_db = DATABASE() AND processlist_id <> CONNECTION_ID()',
  mariadb: 'SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()',
};

/** A server may run the statement of a closed connection to its end. Producers would take it for a listener. */
async function endConnections(admin: Connection, { type }: Pooled['connection']): Promise<boolean> {
  for (let turn = 0; turn < 50; turn++) {
    const [others] = await admin.query<RowDataPacket[]>(OTHERS[type]);
    if (others.length === 0) return true;
    for (const { id } of others) await admin.query(`KILL ${id}`).catch(() => undefined);
  }
  return false;
}

/** Lets the ids of the tables begin at 1 again. Returns false if the tables had too many rows to be used again. */
async function startAnew(admin: Connection, statements: Map<string, string>): Promise<boolean> {
  const deleted = await deleteSome(admin, (table) =>
    NEXT_ID.test(statements.get(table)!) ? [`ALTER TABLE ${table} AUTO_INCREMENT = 1`] : [],
  );
  return deleted.reduce((sum, rows) => sum + rows, 0) <= MOST_ROWS;
}

/** The statement that creates each table. */
async function readStatements(admin: Connection): Promise<Map<string, string>> {
  const [tables] = await admin.query<RowDataPacket[]>('SHOW TABLES');
  const names = tables.map((row) => String(Object.values(row)[0]));
  if (!names.includes(SCHEMA)) return new Map();
  return statementsOf(admin, names);
}

async function statementsOf(admin: Connection, names: readonly string[]): Promise<Map<string, string>> {
  // The result of one statement alone would be no array of results.
  const shown = ['SELECT 1', ...names.map((table) => `SHOW CREATE TABLE ${table}`)].join(';');
  const [[, ...created]] = await admin.query<RowDataPacket[][]>(shown);
  return new Map(names.map((table, index) => [table, String(created[index]![0]!['Create Table'])]));
}

async function definitionOf(admin: Connection, statements: Map<string, string>): Promise<string> {
  const [triggers] = await admin.query('SHOW TRIGGERS');
  const [versions] = statements.has(SCHEMA) ? await admin.query(`SELECT version FROM ${SCHEMA} ORDER BY version`) : [];
  return [...statements.values(), JSON.stringify(triggers), JSON.stringify(versions ?? [])]
    .map((line) => line.replace(NEXT_ID, ''))
    .join('\n');
}
