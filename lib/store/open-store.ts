import type { AdminStore } from './admin/admin-store.js';
import { sqlAdminStore } from './admin/sql-admin-store.js';
import type { AuditStore } from './features/audit/audit-store.js';
import { sqlAuditStore } from './features/audit/sql-audit-store.js';
import { CommitListener } from './core/caller-transaction.js';
import { notingChanges } from './core/changed-jobs.js';
import { withEventOutbox, type EventOutbox } from './core/event-outbox.js';
import type { SqlDatabase } from './core/sql-database.js';
import { isLight } from './doctor/check.js';
import type { Diagnosis } from '../job/problems/diagnosis.js';
import { examine } from './doctor/examine.js';
import { databaseOf } from './databases/index.js';
import type { OpenDatabase, OpenSettings } from './databases/port/database.js';
import type { JobStore } from './verbs/job-store.js';
import { ScanCursors } from './verbs/scan-cursors.js';
import { sqlJobStore } from './verbs/sql-job-store.js';
import { KeyedEnqueuer } from './features/keys/keyed-enqueuer.js';
import type { BlobRows } from '../job/codec/blob-options.js';
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
import type { MetricsStore } from './features/metrics/metrics-store.js';
import { sqlMetricsStore } from './features/metrics/sql-metrics-store.js';
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
import { readSchemaState, type SchemaState } from './schema/schema-state.js';
import type { ScheduleStore } from './features/schedules/schedule-store.js';
import { sqlScheduleStore } from './features/schedules/sql-schedule-store.js';
import { sqlStatsStore } from './features/stats/sql-stats-store.js';
import type { StatsStore } from './features/stats/stats-store.js';
import { sqlStepStore } from './features/steps/sql-step-store.js';
import type { StepStore } from './features/steps/step-store.js';
import { sqlSubjectStore } from './features/subjects/sql-subject-store.js';
import type { SubjectStore } from './features/subjects/subject-store.js';
import type { StoreParts } from './rows/store-parts.js';
import { tableNames, tablesOn } from './tables/table-names.js';
import type { QueueStore } from './features/queues/queue-store.js';
import { sqlQueueStore } from './features/queues/sql-queue-store.js';
import { sqlWorkerLockStore } from './verbs/sql-worker-lock-store.js';
import { sqlWorkerRegistry } from './features/workers/sql-worker-registry.js';
import type { WorkerLockStore } from './verbs/worker-lock-store.js';
import type { WorkerRegistry } from './features/workers/worker-registry.js';

/** The ports on one opened database. */
export interface OpenStore extends Pick<OpenDatabase, 'workerChannel' | 'waiterChannel' | 'eventChannel'> {
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
  /** The checks of the doctor that a process may run while it serves requests. */
  readonly diagnose: () => Promise<Diagnosis[]>;
  /** Undefined if the database has no locks of workers. */
  readonly workerLocks: WorkerLockStore | undefined;
  /** Warnings for the log. */
  readonly notices: readonly string[];
}

export interface StoreSettings extends OpenSettings {
  readonly prefix?: string | undefined;
  /** The queues with stored events; undefined: none. */
  readonly eventOutbox?: EventOutbox | undefined;
}

const NO_EVENT_OUTBOX: EventOutbox = { emitsEvents: () => false, onEventsCommitted: () => {} };

/** Connects, checks the server and prepares the tables. Closes its connections if it rejects. */
export async function openStore(settings: StoreSettings): Promise<OpenStore> {
  const { dataSource, prefix, archives, clock, largestPayloadBytes, eventOutbox = NO_EVENT_OUTBOX } = settings;
  const archiveTables = archives?.tables ?? [];
  const tables = tablesOn(dataSource.options, withArchives(tableNames(prefix), archiveTables));
  const { open, schema, checks } = databaseOf(dataSource.options.type);
  const opened = await open(settings, tables);
  const { dialect, database, blocking, file, workerLocks, claims, bindForApplication, ...channels } = opened;
  const notices = await raiseNextId(database, dialect, tables.jobs, archiveTables);
  const commits = new CommitListener(dataSource);
  const decorated = (each: SqlDatabase) => notingChanges(withEventOutbox(each, commits, eventOutbox), commits);
  const parts = {
    ...{ dialect, database: decorated(database), blocking: decorated(blocking) },
    ...{ scanCursors: new ScanCursors(clock), clock, archives },
  } satisfies StoreParts;
  const keyed = new KeyedEnqueuer(parts.database, parts.blocking, dialect, commits);
  return {
    jobs: sqlJobStore(parts, keyed, { commits, emitsEvents: eventOutbox.emitsEvents, claims, bindForApplication }),
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
    blobRows: sqlBlobRows(parts, settings.skew),
    readSchemaState: () => readSchemaState(parts.database, settings.migrate),
    diagnose: () =>
      examine(checks.filter(isLight), {
        ...{ database: parts.blocking, dialect, schema, tables, clock, file, largestPayloadBytes },
      }),
    ...channels,
    workerLocks: workerLocks && sqlWorkerLockStore(parts, workerLocks),
    notices,
  };
}
