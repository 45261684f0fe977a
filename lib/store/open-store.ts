import { resolve } from 'node:path';
import type { DataSource } from 'typeorm';
import type { Clock } from '../common/clock.js';
import { assembleStore, type OpenStore } from './assemble-store.js';
import type { Dialect } from './core/dialect.js';
import type { EventOutbox } from './core/event-outbox-database.js';
import type { SqlDatabase } from './core/sql-database.js';
import { checkDatabaseType } from './core/supported-database.js';
import { Templates } from './core/template.js';
import { withRetry } from './core/with-retry.js';
import { Hosts, type HostList } from './mysql/hosts.js';
import { checkServer, findUnsupportedStrategies } from './mysql/mysql-checks.js';
import { MysqlNotificationChannel } from './mysql/mysql-notification-channel.js';
import type { MysqlOptions } from './mysql/mysql-options.js';
import { MysqlPool } from './mysql/mysql-pool.js';
import { mysql } from './mysql/mysql.js';
import { withArchives, type Archives } from './schema/archive-options.js';
import { prepareArchive, prepareSchema, type MigrateMode } from './schema/schema.js';
import { isInMemory, SqliteHandle, type SqliteOptions } from './sqlite/sqlite-handle.js';
import { SqliteNotificationChannel, type NotificationCheck } from './sqlite/sqlite-notification-channel.js';
import { checkForWaiters, checkForWorkers } from './sqlite/sqlite-notification-checks.js';
import { sqlite } from './sqlite/sqlite.js';
import { tableNames, tablesOn } from './tables.js';

export type { OpenStore };

export interface StoreSettings {
  readonly dataSource: DataSource;
  readonly prefix?: string | undefined;
  /** Nodes of a cluster. The library connects to them instead of the DataSource's host. */
  readonly hosts?: HostList | undefined;
  /** The tables that receive finished jobs when their retention is over; undefined: the jobs are deleted. */
  readonly archives?: Archives | undefined;
  readonly migrate: MigrateMode;
  readonly clock: Clock;
  /** Milliseconds to add to the database's time; 0 outside tests. */
  readonly skewMs?: () => number;
  readonly shortestLeaseMs: number;
  readonly largestPayloadBytes: number;
  /** The queues with stored events; undefined: none. */
  readonly recorder?: EventOutbox | undefined;
}

/** Connects, checks the server and prepares the tables. Closes its connections if it rejects. */
export async function openStore(settings: StoreSettings): Promise<OpenStore> {
  const { type } = settings.dataSource.options;
  checkDatabaseType(type);
  return type === 'better-sqlite3' ? openSqlite(settings) : openMysql(settings);
}

async function openMysql(settings: StoreSettings): Promise<OpenStore> {
  const { dataSource, clock, shortestLeaseMs } = settings;
  const { tables, templates } = tablesAndTemplates(settings, mysql);
  const hosts = new Hosts(settings.hosts);
  const openPool = () => MysqlPool.open(dataSource, templates, clock, shortestLeaseMs, hosts);
  const pool = await openPool();
  const { dialect, blockingPool } = await closeOnError(pool, async () => {
    const checked = await checkServer(pool, settings.largestPayloadBytes);
    await prepareTables(pool, checked, settings);
    return { dialect: checked, blockingPool: await openPool() };
  });
  const channelOf = (table: string) =>
    new MysqlNotificationChannel(pool, dataSource.options as MysqlOptions, hosts, table, clock);
  return assembleStore(
    {
      dialect,
      database: pool,
      blockingDatabase: blockingPool,
      lockDatabase: pool,
      findUnsupportedStrategies: (queue) => withRetry(clock, () => findUnsupportedStrategies(pool, queue)),
      channels: {
        workerChannel: channelOf(tables.jobs),
        waiterChannel: channelOf(tables.waits),
        eventChannel: channelOf(tables.events),
      },
    },
    { ...settings, tables },
  );
}

async function openSqlite(settings: StoreSettings): Promise<OpenStore> {
  const { dataSource, clock } = settings;
  const { tables, templates } = tablesAndTemplates(settings, sqlite);
  const { database } = dataSource.options as SqliteOptions;
  const handle = await SqliteHandle.open(dataSource, templates, clock);
  await closeOnError(handle, () => prepareTables(handle, sqlite, settings));
  const channelOf = (beginCheck: NotificationCheck) =>
    isInMemory(database) ? undefined : new SqliteNotificationChannel(resolve(database), beginCheck, clock);
  return assembleStore(
    {
      dialect: sqlite,
      database: handle,
      blockingDatabase: handle,
      findUnsupportedStrategies: () => Promise.resolve({}),
      channels: {
        workerChannel: channelOf(checkForWorkers(handle)),
        waiterChannel: channelOf(checkForWaiters),
        eventChannel: channelOf(checkForWaiters),
      },
    },
    { ...settings, tables },
  );
}

function tablesAndTemplates({ dataSource, prefix, archives, skewMs }: StoreSettings, { now }: Pick<Dialect, 'now'>) {
  const tables = tablesOn(dataSource.options, withArchives(tableNames(prefix), archives?.tables ?? []));
  return { tables, templates: new Templates(tables, now, skewMs ?? (() => 0)) };
}

async function prepareTables(
  database: SqlDatabase,
  dialect: Dialect,
  { archives, migrate }: StoreSettings,
): Promise<void> {
  await prepareSchema(database, dialect, migrate);
  for (const to of archives?.tables ?? []) await prepareArchive(database, dialect, migrate, to);
}

async function closeOnError<T>(database: SqlDatabase, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    await database.close();
    throw error;
  }
}
