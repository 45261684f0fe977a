import { resolve } from 'node:path';
import type { DataSource } from 'typeorm';
import { UnsupportedDatabaseError } from '../job/errors.js';
import type { Clock } from '../time/clock.js';
import type { AdminStore } from './admin-store.js';
import { withArchive, type ArchiveOptions } from './archive.js';
import { ClaimBounds } from './claims/claim-bounds.js';
import { CommitListener } from './commit-listener.js';
import type { MysqlOptions } from './dialects/mysql-options.js';
import { MysqlDoorbell } from './dialects/mysql-doorbell.js';
import { checkServer, unfitStrategies } from './dialects/mysql-checks.js';
import { MysqlLocks } from './dialects/mysql-locks.js';
import { MysqlPool } from './dialects/mysql-pool.js';
import { mysql } from './dialects/mysql.js';
import { SqliteDoorbell, type Look } from './dialects/sqlite-doorbell.js';
import { forWaiters, forWorkers } from './dialects/sqlite-looks.js';
import { Hosts } from './dialects/hosts.js';
import { isInMemory, SqliteHandle, type SqliteOptions } from './dialects/sqlite-handle.js';
import { sqlite } from './dialects/sqlite.js';
import type { ConsumerStore } from './consumer-store.js';
import type { Doorbell } from './doorbell.js';
import type { JobStore } from './job-store.js';
import type { LockStore } from './lock-store.js';
import type { QueueStore } from './queue-store.js';
import { prepareArchive, prepareSchema, type MigrateMode } from './schema.js';
import { archive as moveToArchive } from './sql/archive.js';
import type { Dialect } from './sql/dialect.js';
import { KeyedJobs } from './sql/keyed-jobs.js';
import { SqlAdminStore } from './sql/sql-admin-store.js';
import { SqlConsumerStore } from './sql/sql-consumer-store.js';
import { SqlJobStore } from './sql/sql-job-store.js';
import { SqlQueueStore } from './sql/sql-queue-store.js';
import { SqlTraceStore } from './sql/sql-trace-store.js';
import { SqlWaitStore } from './sql/sql-wait-store.js';
import { Templates } from './sql/template.js';
import { tableNames } from './tables.js';
import type { TraceStore } from './trace-store.js';
import type { WaitStore } from './wait-store.js';

export interface StoreSettings {
  readonly dataSource: DataSource;
  readonly prefix?: string | undefined;
  /** Nodes of a cluster, where the library's connections go instead of the DataSource's host. */
  readonly hosts?: readonly string[] | undefined;
  /** Where finished jobs go when their retention is over; undefined: they are deleted. */
  readonly archive?: ArchiveOptions | undefined;
  readonly migrate: MigrateMode;
  readonly clock: Clock;
  /** Added to the database's time; 0 outside tests. */
  readonly skewMs?: () => number;
  readonly shortestLeaseMs: number;
  readonly largestPayloadBytes: number;
}

export interface OpenStore {
  readonly jobs: JobStore;
  readonly admin: AdminStore;
  readonly queues: QueueStore;
  readonly consumer: ConsumerStore;
  readonly waits: WaitStore;
  readonly traces: TraceStore;
  /** Undefined where no other process can have the database. Closed before the jobs are. */
  readonly doorbell: Doorbell | undefined;
  /** The same for processes that wait for a job to end: each listens to a name of its own, and is rung by that. */
  readonly waitersBell: Doorbell | undefined;
  /** Undefined where the database locks no rows. */
  readonly locks: LockStore | undefined;
}

/** Connects, checks what it stands on, and prepares the tables. Leaves nothing open where it rejects. */
export async function openStore(settings: StoreSettings): Promise<OpenStore> {
  const { dataSource } = settings;
  switch (dataSource.options.type) {
    case 'mysql':
    case 'mariadb':
      return openMysql(settings);
    case 'better-sqlite3':
      return openSqlite(settings);
    default:
      throw new UnsupportedDatabaseError(
        `Expected a DataSource of type mysql, mariadb or better-sqlite3, got ${dataSource.options.type}. Give the queue a ` +
          `database of its own with the option \`connection\`.`,
      );
  }
}

async function openMysql({ dataSource, clock, migrate, ...settings }: StoreSettings): Promise<OpenStore> {
  const tables = tableNames(settings.prefix);
  const { archive } = settings;
  const templates = new Templates(withArchive(tables, archive), mysql.now, settings.skewMs ?? (() => 0));
  const hosts = new Hosts(settings.hosts);
  const pool = await MysqlPool.open(dataSource, templates, clock, settings.shortestLeaseMs, hosts);
  let dialect: Dialect;
  try {
    dialect = await checkServer(pool, settings.largestPayloadBytes);
    await prepareSchema(pool, dialect, 'mysql', migrate);
    if (archive) await prepareArchive(pool, 'mysql', migrate);
  } catch (error) {
    await pool.close();
    throw error;
  }
  const bounds = new ClaimBounds(clock);
  return {
    jobs: new SqlJobStore(
      ...([pool, dialect, new CommitListener(dataSource), bounds] as const),
      (queue) => unfitStrategies(pool, queue),
      archive && moveToArchive,
    ),
    admin: new SqlAdminStore(pool, dialect, new KeyedJobs(pool, dialect)),
    queues: new SqlQueueStore(pool, dialect),
    consumer: new SqlConsumerStore(pool, bounds),
    waits: new SqlWaitStore(pool),
    traces: new SqlTraceStore(pool),
    doorbell: new MysqlDoorbell(pool, dataSource.options as MysqlOptions, hosts, tables.jobs, clock),
    waitersBell: new MysqlDoorbell(pool, dataSource.options as MysqlOptions, hosts, tables.waits, clock),
    locks: new MysqlLocks(pool, bounds, clock),
  };
}

async function openSqlite({ dataSource, clock, migrate, ...settings }: StoreSettings): Promise<OpenStore> {
  const { archive } = settings;
  const tables = withArchive(tableNames(settings.prefix), archive);
  const templates = new Templates(tables, sqlite.now, settings.skewMs ?? (() => 0));
  const { database } = dataSource.options as SqliteOptions;
  const handle = await SqliteHandle.open(dataSource, templates, clock);
  try {
    await prepareSchema(handle, sqlite, 'sqlite', migrate);
    if (archive) await prepareArchive(handle, 'sqlite', migrate);
  } catch (error) {
    await handle.close();
    throw error;
  }
  const bounds = new ClaimBounds(clock);
  const bell = (look: Look) => (isInMemory(database) ? undefined : new SqliteDoorbell(resolve(database), look, clock));
  return {
    jobs: new SqlJobStore(
      ...([handle, sqlite, new CommitListener(dataSource), bounds] as const),
      () => Promise.resolve({}),
      archive && moveToArchive,
    ),
    admin: new SqlAdminStore(handle, sqlite, new KeyedJobs(handle, sqlite)),
    queues: new SqlQueueStore(handle, sqlite),
    consumer: new SqlConsumerStore(handle, bounds),
    waits: new SqlWaitStore(handle),
    traces: new SqlTraceStore(handle),
    doorbell: bell(forWorkers(handle)),
    waitersBell: bell(forWaiters),
    locks: undefined,
  };
}
