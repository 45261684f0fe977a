import type { DataSourceOptions } from 'typeorm';
import { databaseOptions as optionsOf } from '../../shared/database.js';
import { SetUpError } from './set-up-error.js';
import { withoutPassword, type Settings } from './settings.js';

const FILE = './signups.sqlite';

type DatabaseSettings = Pick<Settings, 'databaseUrl'>;

/** The application's database, which holds both its users and its queue. */
export function databaseOptions({ databaseUrl }: DatabaseSettings): DataSourceOptions {
  const options = optionsOf(FILE, databaseUrl?.href);
  return databaseUrl ? ({ ...options, connectTimeout: 5_000 } as DataSourceOptions) : options;
}

export function databaseTitle({ databaseUrl }: DatabaseSettings): string {
  return databaseUrl ? withoutPassword(databaseUrl) : `${FILE} (SQLite; DATABASE_URL=mysql://… for a server)`;
}

const DRIVER_CODE = /^(ER_|SQLITE_|PROTOCOL_|ECONN|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOST|ENET|EPIPE)/;

/** Turns a driver's error about a connection into one that says what to do. */
export function explainDatabase(error: unknown, { databaseUrl }: DatabaseSettings): unknown {
  const { code, message } = error as { code?: unknown; message?: string };
  if (typeof code !== 'string' || !DRIVER_CODE.test(code)) return error;
  if (!databaseUrl) return new SetUpError(`Cannot use ${FILE} in the current folder: ${message || code}`);
  const name = databaseUrl.pathname.slice(1);
  const wayOut =
    code === 'ER_BAD_DB_ERROR'
      ? `Create it first: CREATE DATABASE ${name}`
      : 'Set DATABASE_URL to its address, or unset it to use an SQLite file without a server.';
  return new SetUpError(`Cannot use ${withoutPassword(databaseUrl)}: ${message || code}\n${wayOut}`);
}
