import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mysql from 'mysql2/promise';

export type ServerName = 'mysql' | 'mariadb' | 'sqlite';

/** A database server for the tests, as scripts/test.mjs has provided it. */
export interface TestServer {
  name: ServerName;
  /** Empty for SQLite, which has no server. */
  url: string;
  /** The path of the command-line client, if there is one. */
  client?: string;
}

/** Connection fields of TypeORM's DataSourceOptions. */
export type TestConnection = { type: 'mysql' | 'mariadb'; url: string } | { type: 'better-sqlite3'; database: string };

export interface TestDatabase {
  server: TestServer;
  connection: TestConnection;
  drop(): Promise<void>;
}

/** A server without an entry gets no suites. The last lines of `npm test` give the reason. */
export const servers: TestServer[] = [
  { name: 'mysql', url: process.env.SQL_QUEUE_TEST_MYSQL, client: process.env.SQL_QUEUE_TEST_MYSQL_CLI },
  {
    name: 'mariadb',
    url: process.env.SQL_QUEUE_TEST_MARIADB,
    client: process.env.SQL_QUEUE_TEST_MARIADB_CLI,
  },
  { name: 'sqlite', url: process.env.SQL_QUEUE_TEST_SQLITE === 'off' ? undefined : '' },
].filter((server): server is TestServer => server.url !== undefined);

/** Runs the suite on every server, or on those in `only`. */
export function describeServers(
  title: string,
  suite: (server: TestServer) => void,
  only: ServerName[] = ['mysql', 'mariadb', 'sqlite'],
): void {
  const chosen = servers.filter(({ name }) => only.includes(name));
  for (const server of chosen) describe(`${title} on ${server.name}`, () => suite(server));
  // Vitest fails a file without any test.
  if (chosen.length === 0) it.skip(`${title} (needs ${only.join(' or ')})`);
}

/**
 * The servers of a test that takes long: it repeats its work for each statement, or for each size of the tables, or waits for
 * leases to end. The checks of a change run it on the chosen server, because both servers receive the same statements.
 * `npm run test:full`, before a release, and a run of the file alone use both.
 */
export function mainly(chosen: 'mysql' | 'mariadb'): ServerName[] {
  return isLongSet ? [chosen] : ['mysql', 'mariadb'];
}

/** Whether this run checks a change, and leaves to `npm run test:full` what takes longest. */
export const isLongSet = process.env.SQL_QUEUE_TEST_SET === 'long';

/** Creates a private database. The caller drops it after closing all connections to it. */
export async function freshDatabase(server: TestServer): Promise<TestDatabase> {
  if (server.name === 'sqlite') return freshFile(server);

  const name = `sql_queue_test_${randomBytes(6).toString('hex')}`;
  await execute(server.url, `CREATE DATABASE ${name}`);
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  return {
    server,
    connection: { type: server.name, url: url.href },
    drop: () => execute(server.url, `DROP DATABASE IF EXISTS ${name}`),
  };
}

async function freshFile(server: TestServer): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'sql-queue-test-'));
  return {
    server,
    connection: { type: 'better-sqlite3', database: join(folder, 'test.sqlite') },
    drop: () => rm(folder, { recursive: true, force: true }),
  };
}

async function execute(url: string, sql: string): Promise<void> {
  const connection = await mysql.createConnection(url);
  try {
    await connection.query(sql);
  } finally {
    await connection.end();
  }
}
