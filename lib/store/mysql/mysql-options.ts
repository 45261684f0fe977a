import type { PoolOptions } from 'mysql2';
import type { DataSourceOptions } from 'typeorm';

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

export async function loadDriver({ driver }: MysqlOptions): Promise<typeof import('mysql2')> {
  const loaded = (driver ?? (await import('mysql2'))) as object;
  return ('createPool' in loaded ? loaded : (loaded as { default: object }).default) as typeof import('mysql2');
}

/** A copy of all options could include `dropSchema`, which deletes the application's tables. */
export function connectionOptions(options: MysqlOptions): PoolOptions {
  const source = options.replication?.master ?? options;
  const given = { ...source, ...(source.url === undefined ? {} : parseUrl(source.url)) };
  const { host, port, username, password, database, ssl = options.ssl } = given;
  const { socketPath, connectTimeout, extra = {} } = options;
  const fields = { host, port, user: username, password, database, ssl, socketPath, connectTimeout };
  const extras = Object.entries(extra as object).filter(([key]) => CONNECTION_EXTRAS.includes(key));
  const set = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries([...set, ...extras]);
}

function parseUrl(text: string) {
  const url = new URL(text);
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    ...(url.port ? { port: Number(url.port) } : {}),
    ...(url.username ? { username: decodeURIComponent(url.username) } : {}),
    ...(url.password ? { password: decodeURIComponent(url.password) } : {}),
    ...(url.pathname.length > 1 ? { database: decodeURIComponent(url.pathname.slice(1)) } : {}),
  };
}
