import { resolve } from 'node:path';
import type { DataSource } from 'typeorm';
import type { Clock } from '../time/clock.js';
import type { AdminStore } from './admin-store.js';
import { withArchives, type Archives } from './archive.js';
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
import { Hosts, type HostList } from './dialects/hosts.js';
import { isInMemory, SqliteHandle, type SqliteOptions } from './dialects/sqlite-handle.js';
import { sqlite } from './dialects/sqlite.js';
import type { EventStore } from './event-store.js';
import type { ConsumerStore } from './consumer-store.js';
import type { Doorbell } from './doorbell.js';
import type { JobStore } from './job-store.js';
import type { LockStore } from './lock-store.js';
import type { QueueStore } from './queue-store.js';
import { prepareArchive, prepareSchema, type MigrateMode } from './schema.js';
import { raiseIds } from './sql/next-id.js';
import { archive as moveToArchives } from './sql/archive.js';
import type { Dialect } from './sql/dialect.js';
import { KeyedJobs } from './sql/keyed-jobs.js';
import { persist } from './sql/patience.js';
import { SqlAdminStore } from './sql/sql-admin-store.js';
import { RecordingDatabase, type Recorder } from './sql/recording-database.js';
import { SqlConsumerStore } from './sql/sql-consumer-store.js';
import { SqlEventStore } from './sql/sql-event-store.js';
import { SqlJobStore } from './sql/sql-job-store.js';
import { SqlQueueStore } from './sql/sql-queue-store.js';
import { SqlTraceStore } from './sql/sql-trace-store.js';
import { SqlWaitStore } from './sql/sql-wait-store.js';
import { Templates } from './sql/template.js';
import { checkDatabaseType } from './supported-database.js';
import { tableNames, tablesOn } from './tables.js';
import type { TraceStore } from './trace-store.js';
import type { WaitStore } from './wait-store.js';

export interface StoreSettings {
  readonly dataSource: DataSource;
  readonly prefix?: string | undefined;
  /** Nodes of a cluster, where the library's connections go instead of the DataSource's host. */
  readonly hosts?: HostList | undefined;
  /** Where finished jobs go when their retention is over; undefined: they are deleted. */
  readonly archives?: Archives | undefined;
  readonly migrate: MigrateMode;
  readonly clock: Clock;
  /** Added to the database's time; 0 outside tests. */
  readonly skewMs?: () => number;
  readonly shortestLeaseMs: number;
  readonly largestPayloadBytes: number;
  /** Which queues' changes are recorded; undefined: none. */
  readonly recorder?: Recorder | undefined;
}

export interface OpenStore {
  readonly jobs: JobStore;
  readonly admin: AdminStore;
  readonly queues: QueueStore;
  readonly consumer: ConsumerStore;
  readonly waits: WaitStore;
  readonly traces: TraceStore;
  readonly events: EventStore;
  /** Undefined where no other process can have the database. Closed before the jobs are. */
  readonly doorbell: Doorbell | undefined;
  /** The same for processes that wait for a job to end: each listens to a name of its own, and is rung by that. */
  readonly waitersBell: Doorbell | undefined;
  /** The same for processes that hear what becomes of jobs anywhere. All of them are rung. */
  readonly eventsBell: Doorbell | undefined;
  /** Undefined where the database locks no rows. */
  readonly locks: LockStore | undefined;
  /** What was found to be odd, for the log. */
  readonly notices: readonly string[];
}

const NOTHING_RECORDED: Recorder = { isRecorded: () => false, onRecorded: () => {} };

/** Connects, checks what it stands on, and prepares the tables. Leaves nothing open where it rejects. */
export async function openStore(settings: StoreSettings): Promise<OpenStore> {
  const { type } = settings.dataSource.options;
  checkDatabaseType(type);
  return type === 'better-sqlite3' ? openSqlite(settings) : openMysql(settings);
}

async function openMysql({ dataSource, clock, migrate, ...settings }: StoreSettings): Promise<OpenStore> {
  const { archives } = settings;
  const tables = tablesOn(dataSource.options, tableNames(settings.prefix));
  const all = tablesOn(dataSource.options, withArchives(tableNames(settings.prefix), archives?.tables ?? []));
  const templates = new Templates(all, mysql.now, settings.skewMs ?? (() => 0));
  const hosts = new Hosts(settings.hosts);
  const pool = await MysqlPool.open(dataSource, templates, clock, settings.shortestLeaseMs, hosts);
  let dialect: Dialect;
  // Enqueues and the verbs of people may wait for a lock that a transaction of the application holds. They have connections of
  // their own, so that heartbeats, completions, claims, and reads which such a transaction needs, never queue behind them.
  let blockingPool: MysqlPool;
  try {
    dialect = await checkServer(pool, settings.largestPayloadBytes);
    await prepareSchema(pool, dialect, 'mysql', migrate);
    for (const to of archives?.tables ?? []) await prepareArchive(pool, 'mysql', migrate, to);
    blockingPool = await MysqlPool.open(dataSource, templates, clock, settings.shortestLeaseMs, hosts);
  } catch (error) {
    await pool.close();
    throw error;
  }
  const notices = await raiseIds(pool, dialect, tables.jobs, archives?.tables ?? []);
  const bounds = new ClaimBounds(clock);
  const commits = new CommitListener(dataSource);
  const recorded = new RecordingDatabase(pool, commits, settings.recorder ?? NOTHING_RECORDED);
  const blocking = new RecordingDatabase(blockingPool, commits, settings.recorder ?? NOTHING_RECORDED);
  const keyed = new KeyedJobs(recorded, blocking, dialect);
  const bell = (table: string) => new MysqlDoorbell(pool, dataSource.options as MysqlOptions, hosts, table, clock);
  return {
    jobs: new SqlJobStore(
      ...([recorded, blocking, keyed, dialect, commits, bounds] as const),
      (queue) => persist(clock, () => unfitStrategies(pool, queue)),
      archives && ((limit) => moveToArchives(limit, archives)),
    ),
    admin: new SqlAdminStore(blocking, dialect, keyed),
    queues: new SqlQueueStore(pool, dialect),
    consumer: new SqlConsumerStore(blocking, bounds),
    waits: new SqlWaitStore(pool),
    traces: new SqlTraceStore(pool),
    events: new SqlEventStore(pool),
    doorbell: bell(tables.jobs),
    waitersBell: bell(tables.waits),
    eventsBell: bell(tables.events),
    locks: new MysqlLocks(pool, recorded, bounds, clock),
    notices,
  };
}

async function openSqlite({ dataSource, clock, migrate, ...settings }: StoreSettings): Promise<OpenStore> {
  const { archives } = settings;
  const tables = tablesOn(dataSource.options, withArchives(tableNames(settings.prefix), archives?.tables ?? []));
  const templates = new Templates(tables, sqlite.now, settings.skewMs ?? (() => 0));
  const { database } = dataSource.options as SqliteOptions;
  const handle = await SqliteHandle.open(dataSource, templates, clock);
  try {
    await prepareSchema(handle, sqlite, 'sqlite', migrate);
    for (const to of archives?.tables ?? []) await prepareArchive(handle, 'sqlite', migrate, to);
  } catch (error) {
    await handle.close();
    throw error;
  }
  const notices = await raiseIds(handle, sqlite, tables['jobs']!, archives?.tables ?? []);
  const bounds = new ClaimBounds(clock);
  const commits = new CommitListener(dataSource);
  const recorded = new RecordingDatabase(handle, commits, settings.recorder ?? NOTHING_RECORDED);
  const keyed = new KeyedJobs(recorded, recorded, sqlite);
  const bell = (look: Look) => (isInMemory(database) ? undefined : new SqliteDoorbell(resolve(database), look, clock));
  return {
    jobs: new SqlJobStore(
      ...([recorded, recorded, keyed, sqlite, commits, bounds] as const),
      () => Promise.resolve({}),
      archives && ((limit) => moveToArchives(limit, archives)),
    ),
    admin: new SqlAdminStore(recorded, sqlite, keyed),
    queues: new SqlQueueStore(handle, sqlite),
    consumer: new SqlConsumerStore(recorded, bounds),
    waits: new SqlWaitStore(handle),
    traces: new SqlTraceStore(handle),
    events: new SqlEventStore(handle),
    doorbell: bell(forWorkers(handle)),
    waitersBell: bell(forWaiters),
    eventsBell: bell(forWaiters),
    locks: undefined,
    notices,
  };
}
