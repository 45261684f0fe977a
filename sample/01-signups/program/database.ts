import type { DataSourceOptions } from 'typeorm';
import { SetUpError } from './set-up-error.js';
import { withoutPassword, type Settings } from './settings.js';

const FILE = './signups.sqlite';

type Where = Pick<Settings, 'databaseUrl'>;

/** The one database of the application: its users are in it, and so is its queue. */
export function databaseOptions({ databaseUrl }: Where): DataSourceOptions {
  if (!databaseUrl) return { type: 'better-sqlite3', database: FILE, enableWAL: true };
  const type = databaseUrl.protocol === 'mariadb:' ? 'mariadb' : 'mysql';
  return { type, url: databaseUrl.href, connectTimeout: 5_000 };
}

export function databaseTitle({ databaseUrl }: Where): string {
  return databaseUrl ? withoutPassword(databaseUrl) : `${FILE} (SQLite; DATABASE_URL=mysql://… for a server)`;
}

const OF_A_DRIVER = /^(ER_|SQLITE_|PROTOCOL_|ECONN|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOST|ENET|EPIPE)/;

/** Turns what a driver says about a connection that failed, or broke, into something to act on. */
export function explainDatabase(error: unknown, { databaseUrl }: Where): unknown {
  const { code, message } = error as { code?: unknown; message?: string };
  if (typeof code !== 'string' || !OF_A_DRIVER.test(code)) return error;
  if (!databaseUrl) return new SetUpError(`Cannot use ${FILE} in the current folder: ${message || code}`);
  const name = databaseUrl.pathname.slice(1);
  const wayOut =
    code === 'ER_BAD_DB_ERROR'
      ? `Create it first: CREATE DATABASE ${name}`
      : 'DATABASE_URL says where it is; without DATABASE_URL an SQLite file is used, and no server is needed.';
  return new SetUpError(`Cannot use ${withoutPassword(databaseUrl)}: ${message || code}\n${wayOut}`);
}
