import { resolve } from 'node:path';
import type { DataSource } from 'typeorm';
import type { Clock } from '../common/clock.js';
import { closeDataSource } from './close-data-source.js';
import type { Dialect, SqlDatabase } from './core/sql-database.js';
import { checkDatabaseType } from './core/supported-database.js';
import { Templates } from './core/template.js';
import { Hosts } from './databases/mysql/hosts.js';
import { readServer } from './databases/mysql/mysql-checks.js';
import { MysqlNotificationChannel } from './databases/mysql/mysql-notification-channel.js';
import type { MysqlOptions } from './databases/mysql/mysql-options.js';
import { MysqlPool } from './databases/mysql/mysql-pool.js';
import { mysql } from './databases/mysql/mysql.js';
import type { NotificationChannel } from './notifications/notification-channel.js';
import { checkSqliteDriver } from './databases/sqlite/sqlite-driver.js';
import { isInMemory, SqliteHandle, type SqliteOptions } from './databases/sqlite/sqlite-handle.js';
import { SqliteNotificationChannel } from './databases/sqlite/sqlite-notification-channel.js';
import { checkForWaiters } from './databases/sqlite/sqlite-notification-channel.js';
import { sqlite } from './databases/sqlite/sqlite.js';
import { tableNames, tablesOn, type Tables } from './tables/table-names.js';

export interface UncheckedSettings {
  /** Connected until `close` if it is not connected. */
  readonly dataSource: DataSource;
  readonly prefix?: string | undefined;
  readonly clock: Clock;
  /** Milliseconds to add to the database's time; 0 outside tests. */
  readonly skewMs?: (() => number) | undefined;
  readonly shortestLeaseMs: number;
}

/** A database whose server and tables were not checked. */
export interface UncheckedDatabase {
  readonly database: SqlDatabase;
  readonly dialect: Dialect;
  readonly tables: Tables;
  readonly templates: Templates;
  /** Undefined if no other process can open the database. */
  readonly channel: NotificationChannel | undefined;
  /** The path of the database; undefined on a server and in memory. */
  readonly file: string | undefined;
  close(): Promise<void>;
}

/** Opens a database and changes nothing in it, so that problems of the server and of the tables can be reported. */
export async function openUnchecked(settings: UncheckedSettings): Promise<UncheckedDatabase> {
  const { options } = settings.dataSource;
  checkDatabaseType(options.type);
  const tables = tablesOn(options, tableNames(settings.prefix));
  return options.type === 'better-sqlite3' ? openSqlite(settings, tables) : openMysql(settings, tables);
}

async function openMysql(settings: UncheckedSettings, tables: Tables): Promise<UncheckedDatabase> {
  const { dataSource, clock, shortestLeaseMs } = settings;
  const templates = new Templates(tables, mysql, settings.skewMs);
  const hosts = new Hosts();
  const database = await MysqlPool.open(dataSource, templates, clock, shortestLeaseMs, hosts);
  try {
    const { dialect } = await readServer(database);
    const options = dataSource.options as MysqlOptions;
    const channel = new MysqlNotificationChannel(database, options, hosts, tables.jobs, clock);
    const close = async () => {
      await channel.close();
      await database.close();
    };
    return { database, dialect, tables, templates, channel, file: undefined, close };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Shares the handle of the DataSource: a handle of the library would change the settings of the file. */
async function openSqlite(settings: UncheckedSettings, tables: Tables): Promise<UncheckedDatabase> {
  const { dataSource, clock } = settings;
  checkSqliteDriver(dataSource.options);
  const { database: name } = dataSource.options as SqliteOptions;
  const isConnected = dataSource.isInitialized;
  if (!isConnected) await dataSource.initialize();
  const templates = new Templates(tables, sqlite, settings.skewMs);
  const database = SqliteHandle.shared(dataSource, templates, clock);
  const file = isInMemory(name) ? undefined : resolve(name);
  const channel = file === undefined ? undefined : new SqliteNotificationChannel(file, checkForWaiters, clock);
  const close = async () => {
    await channel?.close();
    if (!isConnected) await closeDataSource(dataSource, clock);
  };
  return { database, dialect: sqlite, tables, templates, channel, file, close };
}
