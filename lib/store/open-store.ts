import { sqlAdminStore } from './admin/sql-admin-store.js';
import { sqlAuditStore } from './features/audit/sql-audit-store.js';
import { CommitListener } from './core/caller-transaction.js';
import { notingChanges } from './core/noting-changes.js';
import { withEventOutbox, type EventOutbox } from './core/event-outbox.js';
import type { SqlDatabase } from './core/sql-database.js';
import { isLight } from './doctor/check.js';
import { examine } from './doctor/examine.js';
import { databaseOf } from './databases/index.js';
import type { OpenSettings } from './databases/port/database.js';
import { ScanCursors } from './verbs/scan-cursors.js';
import { sqlJobStore } from './verbs/sql-job-store.js';
import { KeyedEnqueuer } from './features/keys/keyed-enqueuer.js';
import type { ContentCodec } from '../job/codec/content-codec.js';
import { sqlBlobRows } from './features/content/sql-blob-rows.js';
import { sqlContentStore } from './features/content/sql-content-store.js';
import { sqlFlowStore } from './features/flows/sql-flow-store.js';
import { sqlGroupStore } from './features/groups/sql-group-store.js';
import { sqlLimitStore } from './features/limits/sql-limit-store.js';
import { sqlMetricsStore } from './features/metrics/sql-metrics-store.js';
import { sqlConsumerStore } from './features/people/sql-consumer-store.js';
import { sqlEventStore } from './features/events/sql-event-store.js';
import { sqlJobLogStore } from './features/logs/sql-job-log-store.js';
import { sqlWaitStore } from './features/waits/sql-wait-store.js';
import { withArchives } from './tables/archive-options.js';
import { raiseNextId } from './schema/raise-next-id.js';
import { readSchemaState } from './schema/schema-state.js';
import { sqlScheduleStore } from './features/schedules/sql-schedule-store.js';
import { sqlStatsStore } from './features/stats/sql-stats-store.js';
import { sqlStepStore } from './features/steps/sql-step-store.js';
import { sqlSubjectStore } from './features/subjects/sql-subject-store.js';
import type { StoreParts } from './rows/store-parts.js';
import { tableNames, tablesOn } from './tables/table-names.js';
import { sqlQueueStore } from './features/queues/sql-queue-store.js';
import { sqlWorkerLockStore } from './verbs/sql-worker-lock-store.js';
import { sqlWorkerRegistry } from './features/workers/sql-worker-registry.js';

/** The ports on one opened database. */
export type OpenStore = Awaited<ReturnType<typeof openStore>>;

export interface StoreSettings extends OpenSettings {
  readonly prefix?: string | undefined;
  /** The queues with stored events; undefined: none. */
  readonly eventOutbox?: EventOutbox | undefined;
}

const NO_EVENT_OUTBOX: EventOutbox = { emitsEvents: () => false, onEventsCommitted: () => {} };

/** Connects, checks the server and prepares the tables. Closes its connections if it rejects. */
export async function openStore(settings: StoreSettings) {
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
    content: (codec: ContentCodec) => sqlContentStore(parts, codec),
    blobRows: sqlBlobRows(parts, settings.skew),
    /** Compares the tables with this release while the process runs. */
    readSchemaState: () => readSchemaState(parts.database, settings.migrate),
    /** The checks of the doctor that a process may run while it serves requests. */
    diagnose: () =>
      examine(checks.filter(isLight), {
        ...{ database: parts.blocking, dialect, schema, tables, clock, file, largestPayloadBytes },
      }),
    ...channels,
    /** Undefined if the database has no locks of workers. */
    workerLocks: workerLocks && sqlWorkerLockStore(parts, workerLocks),
    /** Warnings for the log. */
    notices,
  };
}
