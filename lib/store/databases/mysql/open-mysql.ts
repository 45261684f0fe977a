import { Templates } from '../../core/template.js';
import { withRetry } from '../../core/with-retry.js';
import { schemaOn } from '../../schema/database-schema.js';
import { prepareSchema } from '../../schema/schema.js';
import type { Tables } from '../../tables/table-names.js';
import { closeOnError } from '../port/close-on-error.js';
import type { OpenDatabase, OpenSettings, UncheckedDatabase, UncheckedSettings } from '../port/database.js';
import { Hosts } from './mysql-connections.js';
import { mysqlClaims } from './claim/mysql-claims.js';
import { checkServer, readServer } from './mysql-checks.js';
import { MysqlNotificationChannel } from './mysql-notification-channel.js';
import { connectionOptions, type MysqlOptions } from './mysql-options.js';
import { MysqlPool } from './mysql-pool.js';
import { mysqlWorkerLocks } from './mysql-worker-locks.js';
import { mysql } from './mysql.js';
import { withUnescapedValues } from './unescaped-values.js';

/** MariaDB has the schema of MySQL. */
export const mysqlSchema = schemaOn('mysql');

export async function openMysql(settings: OpenSettings, tables: Tables): Promise<OpenDatabase> {
  const { dataSource, clock, shortestLeaseMs } = settings;
  const templates = new Templates(tables, mysql, settings.skew);
  const { port } = connectionOptions(dataSource.options as MysqlOptions);
  const hosts = new Hosts(settings.hosts, port);
  const openPool = (latest?: MysqlPool) =>
    MysqlPool.open(dataSource, templates, clock, shortestLeaseMs, hosts, settings.onRetry, latest);
  const pool = await openPool();
  const { dialect, blocking } = await closeOnError(pool, async () => {
    const checked = await checkServer(pool, settings.largestPayloadBytes);
    await prepareSchema(pool, checked, mysqlSchema, settings);
    return { dialect: checked, blocking: await openPool(pool) };
  });
  const channelOf = (table: string) =>
    new MysqlNotificationChannel(pool, dataSource.options as MysqlOptions, hosts, table, clock);
  return {
    dialect,
    database: pool,
    blocking,
    file: undefined,
    bindForApplication: (statement) => withUnescapedValues(templates.bind(statement)),
    claims: mysqlClaims(dialect, pool, (act) => withRetry(clock, act)),
    workerLocks: mysqlWorkerLocks(() => pool.openDedicated()),
    workerChannel: channelOf(tables.jobs),
    waiterChannel: channelOf(tables.waits),
    eventChannel: channelOf(tables.events),
  };
}

export async function openMysqlUnchecked(settings: UncheckedSettings, tables: Tables): Promise<UncheckedDatabase> {
  const { dataSource, clock, shortestLeaseMs } = settings;
  const templates = new Templates(tables, mysql, settings.skew);
  const hosts = new Hosts();
  const database = await MysqlPool.open(dataSource, templates, clock, shortestLeaseMs, hosts);
  const { dialect } = await closeOnError(database, () => readServer(database));
  const channel = new MysqlNotificationChannel(database, dataSource.options as MysqlOptions, hosts, tables.jobs, clock);
  const close = async () => {
    await channel.close();
    await database.close();
  };
  return { database, dialect, templates, channel, file: undefined, close };
}
