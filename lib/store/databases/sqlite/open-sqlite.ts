import { resolve } from 'node:path';
import { Templates } from '../../core/template.js';
import { schemaOn } from '../../schema/database-schema.js';
import { prepareSchema } from '../../schema/schema.js';
import type { Tables } from '../../tables/table-names.js';
import { closeOnError } from '../port/close-on-error.js';
import type { OpenDatabase, OpenSettings, UncheckedDatabase, UncheckedSettings } from '../port/database.js';
import { SQLITE_CLAIMS } from './claim/update.js';
import { checkSqliteDriver } from './sqlite-driver.js';
import { isInMemory, SqliteHandle, type SqliteOptions } from './sqlite-handle.js';
import {
  checkForWaiters,
  checkForWorkers,
  SqliteNotificationChannel,
  type NotificationCheck,
} from './sqlite-notification-channel.js';
import { sqlite } from './sqlite.js';

export const sqliteSchema = schemaOn('sqlite');

export async function openSqlite(settings: OpenSettings, tables: Tables): Promise<OpenDatabase> {
  const { dataSource, clock } = settings;
  const { database } = dataSource.options as SqliteOptions;
  const templates = new Templates(tables, sqlite, settings.skew);
  const handle = await SqliteHandle.open(dataSource, templates, clock, settings.onRetry);
  await closeOnError(handle, () => prepareSchema(handle, sqlite, sqliteSchema, settings));
  const file = isInMemory(database) ? undefined : resolve(database);
  const channelOf = (beginCheck: NotificationCheck) =>
    file === undefined ? undefined : new SqliteNotificationChannel(file, beginCheck, clock);
  return {
    dialect: sqlite,
    database: handle,
    blocking: handle,
    file,
    // Drivers of SQLite send values apart from the statement.
    bindForApplication: (statement) => templates.bind(statement),
    claims: SQLITE_CLAIMS,
    workerLocks: undefined,
    workerChannel: channelOf(checkForWorkers(handle)),
    waiterChannel: channelOf(checkForWaiters),
    eventChannel: channelOf(checkForWaiters),
  };
}

/** Shares the handle of the DataSource: a handle of the library would change the settings of the file. */
export async function openSqliteUnchecked(settings: UncheckedSettings, tables: Tables): Promise<UncheckedDatabase> {
  const { dataSource, clock } = settings;
  checkSqliteDriver(dataSource.options);
  const { database: name } = dataSource.options as SqliteOptions;
  const isConnected = dataSource.isInitialized;
  if (!isConnected) await dataSource.initialize();
  const templates = new Templates(tables, sqlite, settings.skew);
  const database = SqliteHandle.shared(dataSource, templates, clock);
  const file = isInMemory(name) ? undefined : resolve(name);
  const channel = file === undefined ? undefined : new SqliteNotificationChannel(file, checkForWaiters, clock);
  const close = async () => {
    await channel?.close();
    if (!isConnected) await dataSource.destroy();
  };
  return { database, dialect: sqlite, templates, channel, file, close };
}
