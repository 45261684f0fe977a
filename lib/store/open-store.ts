import { resolve } from 'node:path';
import type { DataSource } from 'typeorm';
import type { Clock } from '../common/clock.js';
import type { AdminStore } from './admin/admin-store.js';
import { sqlAdminStore } from './admin/sql-admin-store.js';
import type { AuditStore } from './features/audit/audit-store.js';
import { sqlAuditStore } from './features/audit/sql-audit-store.js';
import { CommitListener } from './core/commit-listener.js';
import { withEventOutbox, type EventOutbox } from './core/event-outbox-database.js';
import type { DedicatedConnection, SqlDatabase } from './core/sql-database.js';
import { checkDatabaseType } from './core/supported-database.js';
import { Templates } from './core/template.js';
import { withRetry, type OnRetry } from './core/with-retry.js';
import { ScanCursors } from './rows/scan-cursors.js';
import type { JobStore } from './verbs/job-store.js';
import { sqlJobStore, type JobStoreSettings } from './verbs/sql-job-store.js';
import { KeyedEnqueuer } from './features/keys/keyed-enqueuer.js';
import type { BlobRows } from '../job/codec/blob-rows.js';
import type { ContentCodec } from '../job/codec/content-codec.js';
import type { ContentStore } from './features/content/content-store.js';
import { sqlBlobRows } from './features/content/sql-blob-rows.js';
import { sqlContentStore } from './features/content/sql-content-store.js';
import type { FlowStore } from './features/flows/flow-store.js';
import { sqlFlowStore } from './features/flows/sql-flow-store.js';
import type { GroupStore } from './features/groups/group-store.js';
import { sqlGroupStore } from './features/groups/sql-group-store.js';
import type { LimitStore } from './features/limits/limit-store.js';
import { sqlLimitStore } from './features/limits/sql-limit-store.js';
import { mysqlClaims } from './databases/mysql/claim/mysql-claims.js';
import { Hosts, type HostList } from './databases/mysql/hosts.js';
import { checkServer } from './databases/mysql/mysql-checks.js';
import { MysqlNotificationChannel } from './databases/mysql/mysql-notification-channel.js';
import type { MysqlOptions } from './databases/mysql/mysql-options.js';
import { MysqlPool } from './databases/mysql/mysql-pool.js';
import { mysql } from './databases/mysql/mysql.js';
import type { MetricsStore } from './features/metrics/metrics-store.js';
import { sqlMetricsStore } from './features/metrics/sql-metrics-store.js';
import type { NotificationChannel } from './notifications/notification-channel.js';
import type { ConsumerStore } from './features/people/consumer-store.js';
import { sqlConsumerStore } from './features/people/sql-consumer-store.js';
import type { EventStore } from './features/events/event-store.js';
import type { JobLogStore } from './features/logs/job-log-store.js';
import { sqlEventStore } from './features/events/sql-event-store.js';
import { sqlJobLogStore } from './features/logs/sql-job-log-store.js';
import { sqlWaitStore } from './features/waits/sql-wait-store.js';
import type { WaitStore } from './features/waits/wait-store.js';
import { withArchives } from './tables/archive-options.js';
import { raiseNextId } from './schema/raise-next-id.js';
import { prepareSchema, type SchemaSettings } from './schema/schema.js';
import { readSchemaState, type SchemaState } from './schema/schema-state.js';
import { SQLITE_CLAIMS } from './databases/sqlite/claim/update.js';
import { isInMemory, SqliteHandle, type SqliteOptions } from './databases/sqlite/sqlite-handle.js';
import {
  checkForWaiters,
  checkForWorkers,
  SqliteNotificationChannel,
  type NotificationCheck,
} from './databases/sqlite/sqlite-notification-channel.js';
import { sqlite } from './databases/sqlite/sqlite.js';
import type { ScheduleStore } from './features/schedules/schedule-store.js';
import { sqlScheduleStore } from './features/schedules/sql-schedule-store.js';
import { sqlStatsStore } from './features/stats/sql-stats-store.js';
import type { StatsStore } from './features/stats/stats-store.js';
import { sqlStepStore } from './features/steps/sql-step-store.js';
import type { StepStore } from './features/steps/step-store.js';
import { sqlSubjectStore } from './features/subjects/sql-subject-store.js';
import type { SubjectStore } from './features/subjects/subject-store.js';
import type { StoreParts } from './rows/store-parts.js';
import { tableNames, tablesOn, type Tables } from './tables/table-names.js';
import type { QueueStore } from './features/queues/queue-store.js';
import { sqlQueueStore } from './features/queues/sql-queue-store.js';
import { sqlWorkerLockStore } from './verbs/sql-worker-lock-store.js';
import { sqlWorkerRegistry } from './features/workers/sql-worker-registry.js';
import type { WorkerLockStore } from './verbs/worker-lock-store.js';
import type { WorkerRegistry } from './features/workers/worker-registry.js';

/** The ports on one opened database. */
export interface OpenStore {
  readonly jobs: JobStore;
  readonly workers: WorkerRegistry;
  readonly admin: AdminStore;
  readonly audit: AuditStore;
  readonly queues: QueueStore;
  readonly consumer: ConsumerStore;
  readonly waits: WaitStore;
  readonly jobLogs: JobLogStore;
  readonly events: EventStore;
  readonly schedules: ScheduleStore;
  readonly limits: LimitStore;
  readonly stats: StatsStore;
  readonly metrics: MetricsStore;
  readonly groups: GroupStore;
  readonly steps: StepStore;
  readonly flows: FlowStore;
  readonly subjects: SubjectStore;
  readonly content: (codec: ContentCodec) => ContentStore;
  readonly blobRows: BlobRows;
  /** Compares the tables with this release while the process runs. */
  readonly readSchemaState: () => Promise<SchemaState>;
  /** Undefined, like the other channels, if no other process can open the database. Close it before `jobs`. */
  readonly workerChannel: NotificationChannel | undefined;
  /** For processes that wait for jobs to end. Each process listens to a name of its own. */
  readonly waiterChannel: NotificationChannel | undefined;
  /** For processes that listen to the events of all processes. A notification wakes all of them. */
  readonly eventChannel: NotificationChannel | undefined;
  /** Undefined if the database has no row locks. */
  readonly workerLocks: WorkerLockStore | undefined;
  /** Warnings for the log. */
  readonly notices: readonly string[];
}

export interface StoreSettings extends SchemaSettings {
  readonly dataSource: DataSource;
  readonly prefix?: string | undefined;
  /** Nodes of a cluster. The library connects to them instead of the DataSource's host. */
  readonly hosts?: HostList | undefined;
  readonly clock: Clock;
  /** Milliseconds to add to the database's time; 0 outside tests. */
  readonly skewMs?: () => number;
  readonly shortestLeaseMs: number;
  readonly largestPayloadBytes: number;
  /** The queues with stored events; undefined: none. */
  readonly eventOutbox?: EventOutbox | undefined;
  readonly onRetry?: OnRetry | undefined;
}

/** The parts that differ between the kinds of databases. `database` and `blocking` do not store events yet. */
interface OpenDatabase
  extends
    Pick<StoreParts, 'dialect' | 'database' | 'blocking'>,
    Pick<JobStoreSettings, 'claims'>,
    Pick<OpenStore, 'workerChannel' | 'waiterChannel' | 'eventChannel'> {
  /** Undefined if the database has no row locks. */
  readonly openDedicated?: () => Promise<DedicatedConnection>;
}

const NO_EVENT_OUTBOX: EventOutbox = { emitsEvents: () => false, onEventsCommitted: () => {} };

/** Connects, checks the server and prepares the tables. Closes its connections if it rejects. */
export async function openStore(settings: StoreSettings): Promise<OpenStore> {
  const { dataSource, prefix, archives, clock, eventOutbox = NO_EVENT_OUTBOX } = settings;
  const { type } = dataSource.options;
  checkDatabaseType(type);
  const archiveTables = archives?.tables ?? [];
  const tables = tablesOn(dataSource.options, withArchives(tableNames(prefix), archiveTables));
  const open = type === 'better-sqlite3' ? openSqlite : openMysql;
  const opened = await open(settings, tables);
  const { dialect, database, blocking, openDedicated, claims, ...channels } = opened;
  const notices = await raiseNextId(database, dialect, tables.jobs, archiveTables);
  const commits = new CommitListener(dataSource);
  const withEvents = (each: SqlDatabase) => withEventOutbox(each, commits, eventOutbox);
  const parts: StoreParts = {
    ...{ dialect, database: withEvents(database), blocking: withEvents(blocking) },
    ...{ scanCursors: new ScanCursors(clock), clock, archives },
  };
  const keyed = new KeyedEnqueuer(parts.database, parts.blocking, dialect);
  return {
    jobs: sqlJobStore(parts, keyed, { commits, emitsEvents: eventOutbox.emitsEvents, claims }),
    workers: sqlWorkerRegistry(parts),
    admin: sqlAdminStore(parts, keyed),
    audit: sqlAuditStore(parts),
    queues: sqlQueueStore(parts),
    consumer: sqlConsumerStore(parts),
    waits: sqlWaitStore(parts),
    jobLogs: sqlJobLogStore(parts),
    events: sqlEventStore(parts),
    schedules: sqlScheduleStore(parts),
    limits: sqlLimitStore(parts),
    stats: sqlStatsStore(parts),
    metrics: sqlMetricsStore(parts),
    groups: sqlGroupStore(parts),
    steps: sqlStepStore(parts),
    flows: sqlFlowStore(parts),
    subjects: sqlSubjectStore(parts),
    content: (codec) => sqlContentStore(parts, codec),
    blobRows: sqlBlobRows(parts, settings.skewMs),
    readSchemaState: () => readSchemaState(parts.database, settings.migrate),
    ...channels,
    workerLocks: openDedicated && sqlWorkerLockStore(parts, openDedicated),
    notices,
  };
}

async function openMysql(settings: StoreSettings, tables: Tables): Promise<OpenDatabase> {
  const { dataSource, clock, shortestLeaseMs } = settings;
  const templates = new Templates(tables, mysql, settings.skewMs);
  const hosts = new Hosts(settings.hosts);
  const openPool = () => MysqlPool.open(dataSource, templates, clock, shortestLeaseMs, hosts, settings.onRetry);
  const pool = await openPool();
  const { dialect, blocking } = await closeOnError(pool, async () => {
    const checked = await checkServer(pool, settings.largestPayloadBytes);
    await prepareSchema(pool, checked, settings);
    return { dialect: checked, blocking: await openPool() };
  });
  const channelOf = (table: string) =>
    new MysqlNotificationChannel(pool, dataSource.options as MysqlOptions, hosts, table, clock);
  return {
    dialect,
    database: pool,
    blocking,
    openDedicated: () => pool.openDedicated(),
    claims: mysqlClaims(dialect, pool, (act) => withRetry(clock, act)),
    workerChannel: channelOf(tables.jobs),
    waiterChannel: channelOf(tables.waits),
    eventChannel: channelOf(tables.events),
  };
}

async function openSqlite(settings: StoreSettings, tables: Tables): Promise<OpenDatabase> {
  const { dataSource, clock } = settings;
  const { database } = dataSource.options as SqliteOptions;
  const handle = await SqliteHandle.open(
    dataSource,
    new Templates(tables, sqlite, settings.skewMs),
    clock,
    settings.onRetry,
  );
  await closeOnError(handle, () => prepareSchema(handle, sqlite, settings));
  const channelOf = (beginCheck: NotificationCheck) =>
    isInMemory(database) ? undefined : new SqliteNotificationChannel(resolve(database), beginCheck, clock);
  return {
    dialect: sqlite,
    database: handle,
    blocking: handle,
    claims: SQLITE_CLAIMS,
    workerChannel: channelOf(checkForWorkers(handle)),
    waiterChannel: channelOf(checkForWaiters),
    eventChannel: channelOf(checkForWaiters),
  };
}

async function closeOnError<T>(database: SqlDatabase, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    await database.close();
    throw error;
  }
}
