import type { PoolOptions, Pool } from 'mysql2';
import type { DataSourceOptions, DataSource } from 'typeorm';
import { expected } from '../../../job/expectation.js';
import type { ConnectionRules, PlaceProblem } from '../port/database.js';
import { MysqlSockets } from './mysql-sockets.js';

export type MysqlOptions = Extract<DataSourceOptions, { type: 'mysql' | 'mariadb' }>;

// The options for the server and the account. No option for the behaviour of the connection.
const CONNECTION_EXTRAS = [
  'host',
  'port',
  'user',
  'password',
  'password1',
  'password2',
  'password3',
  'database',
  'ssl',
  'socketPath',
  'authPlugins',
  'authSwitchHandler',
  'enableCleartextPlugin',
  'stream',
  'connectTimeout',
  'localAddress',
  'uri',
];

/** The behaviour of all connections of the library. */
export const OWN_CONNECTION = {
  charset: 'utf8mb4',
  enableKeepAlive: true,
  keepAliveInitialDelay: 10_000,
  // The driver reserves 0.5 MB for the prepared statements of each connection. The library has none.
  maxPreparedStatements: 1,
} as const satisfies PoolOptions;

export async function loadDriver({ driver }: MysqlOptions): Promise<typeof import('mysql2')> {
  const loaded = (driver ?? (await import('mysql2'))) as object;
  return ('createPool' in loaded ? loaded : (loaded as { default: object }).default) as typeof import('mysql2');
}

/** A copy of all options could include `dropSchema`, which deletes the application's tables. */
export function connectionOptions(options: MysqlOptions): PoolOptions {
  const source = options.replication?.master ?? options;
  const given = { ...source, ...(source.url ? parseUrl(source.url) : {}) };
  const { host, port, username, password, database, socketPath } = given;
  const { ssl, connectTimeout, extra = {} } = options;
  const fields = { host, port, user: username, password, database, ssl, socketPath, connectTimeout };
  const extras = Object.entries(extra as object).filter(([key]) => CONNECTION_EXTRAS.includes(key));
  const set = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries([...set, ...extras]);
}

/**
 * Reads a URL as TypeORM does, so that the queue reaches the database of the application. A password may contain `#`,
 * `?` and `@`, with which the text is not a valid URL. A URL without a user or a password stands for an empty one.
 */
function parseUrl(text: string) {
  const [address = '', ...path] = text.slice(text.indexOf('//') + 2).split('/');
  const credentials = address.slice(0, Math.max(0, address.lastIndexOf('@')));
  const [host = '', port] = address.slice(address.lastIndexOf('@') + 1).split(':');
  const [username = '', ...password] = credentials.split(':');
  const [database] = path.join('/').split('?');
  return {
    host,
    username: decodeURIComponent(username),
    password: decodeURIComponent(password.join(':')),
    ...(port ? { port: Number.parseInt(port, 10) } : {}),
    ...(database ? { database } : {}),
  };
}

export const MYSQL_CONNECTION: ConnectionRules = {
  placeOf(options) {
    const {
      host = 'localhost',
      port = 3306,
      user = '',
      database,
      socketPath,
    } = connectionOptions(options as MysqlOptions);
    return `"${database}" on ${socketPath ?? `${host}:${port}`} as user "${user}"`;
  },

  placeProblem(options) {
    const { url, host, socketPath, replication } = options as MysqlOptions;
    const wrongUrl = (seen: unknown, isUnset: boolean): PlaceProblem => ({
      problem: expected(false, 'connection.url to be the URL of a database', seen)!,
      isUnset,
    });
    if (url !== undefined && typeof url !== 'string') return wrongUrl(typeof url, false);
    if ('url' in options && !url && ![host, socketPath, replication].some(Boolean)) return wrongUrl(url, true);
    const { database, uri } = connectionOptions(options as MysqlOptions);
    if (database ?? uri) return undefined;
    return { problem: 'expected connection to name a database on the server, got none', isUnset: false };
  },

  unsharedBecause: () => undefined,

  socketsOf(dataSource: DataSource) {
    const { pool } = dataSource.driver as { pool?: Pool };
    return pool && new MysqlSockets(pool);
  },
};
