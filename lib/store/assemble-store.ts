import type { DataSource } from 'typeorm';
import type { Clock } from '../common/clock.js';
import type { AdminStore } from './admin/admin-store.js';
import { SqlAdminStore } from './admin/sql-admin-store.js';
import { CommitListener } from './core/commit-listener.js';
import type { Dialect } from './core/dialect.js';
import { EventOutboxDatabase, type EventOutbox } from './core/event-outbox-database.js';
import type { SqlDatabase } from './core/sql-database.js';
import { archiveExpired } from './jobs/archive-expired.js';
import type { UnsupportedStrategies } from './jobs/claim/choose-strategies.js';
import { CLAIM_STRATEGIES } from './jobs/claim/claim-strategies.js';
import { ScanCursors } from './jobs/claim/scan-cursors.js';
import type { JobStore } from './jobs/job-store.js';
import { SqlJobStore } from './jobs/sql-job-store.js';
import { KeyedEnqueuer } from './keys/keyed-enqueuer.js';
import type { NotificationChannel } from './notifications/notification-channel.js';
import type { ConsumerStore } from './people/consumer-store.js';
import { SqlConsumerStore } from './people/sql-consumer-store.js';
import type { EventStore } from './results/event-store.js';
import type { JobLogStore } from './results/job-log-store.js';
import { SqlEventStore } from './results/sql-event-store.js';
import { SqlJobLogStore } from './results/sql-job-log-store.js';
import { SqlWaitStore } from './results/sql-wait-store.js';
import type { WaitStore } from './results/wait-store.js';
import type { Archives } from './schema/archive-options.js';
import { raiseNextId } from './schema/raise-next-id.js';
import type { Tables } from './tables.js';
import type { QueueStore } from './topics/queue-store.js';
import { SqlQueueStore } from './topics/sql-queue-store.js';
import { SqlWorkerLockStore, type LockDatabase } from './workers/sql-worker-lock-store.js';
import type { WorkerLockStore } from './workers/worker-lock-store.js';
import { SqlWorkerRegistry } from './workers/sql-worker-registry.js';
import type { WorkerRegistry } from './workers/worker-registry.js';

/** The ports on one opened database. */
export interface OpenStore {
  readonly jobs: JobStore;
  readonly workers: WorkerRegistry;
  readonly admin: AdminStore;
  readonly queues: QueueStore;
  readonly consumer: ConsumerStore;
  readonly waits: WaitStore;
  readonly jobLogs: JobLogStore;
  readonly events: EventStore;
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

/** The parts that differ between the kinds of databases. */
export interface OpenDatabase {
  readonly dialect: Dialect;
  readonly database: SqlDatabase;
  /**
   * For enqueues and the verbs of people, which may wait for a lock of an application transaction. Heartbeats,
   * completions, claims, and reads that such a transaction needs must not queue behind them for a connection.
   */
  readonly blockingDatabase: SqlDatabase;
  readonly lockDatabase?: LockDatabase;
  /** The strategies that this server does not support, with the reasons, beside those that its kind does not. */
  findUnsupportedStrategies(queue: string): Promise<UnsupportedStrategies>;
  readonly channels: Pick<OpenStore, 'workerChannel' | 'waiterChannel' | 'eventChannel'>;
}

export interface AssembleOptions {
  readonly dataSource: DataSource;
  readonly tables: Tables;
  readonly archives?: Archives | undefined;
  readonly clock: Clock;
  /** The queues with stored events; undefined: none. */
  readonly recorder?: EventOutbox | undefined;
}

const NO_EVENT_OUTBOX: EventOutbox = { emitsEvents: () => false, onEventsCommitted: () => {} };

/** Implements the ports on a database whose tables are ready. */
export async function assembleStore(
  { dialect, database, blockingDatabase, lockDatabase, findUnsupportedStrategies, channels }: OpenDatabase,
  { dataSource, tables, archives, clock, recorder = NO_EVENT_OUTBOX }: AssembleOptions,
): Promise<OpenStore> {
  const notices = await raiseNextId(database, dialect, tables.jobs, archives?.tables ?? []);
  const scanCursors = new ScanCursors(clock);
  const commits = new CommitListener(dataSource);
  const outbox = new EventOutboxDatabase(database, commits, recorder);
  const blocking = new EventOutboxDatabase(blockingDatabase, commits, recorder);
  const keyed = new KeyedEnqueuer(outbox, blocking, dialect);
  return {
    jobs: new SqlJobStore(
      outbox,
      blocking,
      keyed,
      { ...dialect, ...CLAIM_STRATEGIES[dialect.name] },
      commits,
      scanCursors,
      findUnsupportedStrategies,
      archives && ((limit) => archiveExpired(limit, archives)),
    ),
    workers: new SqlWorkerRegistry(database, dialect),
    admin: new SqlAdminStore(blocking, dialect, keyed),
    queues: new SqlQueueStore(database, dialect),
    consumer: new SqlConsumerStore(blocking, scanCursors),
    waits: new SqlWaitStore(database),
    jobLogs: new SqlJobLogStore(database),
    events: new SqlEventStore(database),
    ...channels,
    workerLocks: lockDatabase && new SqlWorkerLockStore(lockDatabase, outbox, scanCursors, clock),
    notices,
  };
}
