import type { DataSource } from 'typeorm';
import type { QueueAdmin } from '../admin/queue-admin.js';
import { systemClock, type Clock } from '../common/clock.js';
import type { JobLogger } from '../common/job-logger.js';
import type { QueueConsumer } from '../consumer/queue-consumer.js';
import type { QueueEvents } from '../events/queue-events.js';
import type { Subscription } from '../job/topics.js';
import type { EventFeed } from '../listen/event-feed.js';
import type { QueueProducer } from '../producer/queue-producer.js';
import { closeDataSource } from '../store/close-data-source.js';
import { explainMissingPrivilege } from '../store/core/missing-privilege.js';
import { checkDatabaseType } from '../store/core/supported-database.js';
import type { OpenStore } from '../store/open-store.js';
import { checkSqliteDriver } from '../store/sqlite/sqlite-driver.js';
import type { HandlerTable } from '../worker/run/handler-table.js';
import type { SqlQueueRunner } from '../worker/sql-queue-runner.js';
import { WorkNotifier } from '../worker/work-notifier.js';
import type { EngineSettings } from './engine-settings.js';
import type { EngineShutdown } from './engine-shutdown.js';
import type { QueueSettings } from './queue-settings.js';
import {
  createAdmin,
  createConsumer,
  createCore,
  createEvents,
  createHeartbeatFactory,
  createProducer,
  createRunner,
  createShutdown,
  createWaits,
  openStores,
} from './subsystems.js';

/** All subsystems of one queue in one process. */
export interface Engine {
  readonly settings: QueueSettings;
  readonly stores: OpenStore;
  readonly handlers: HandlerTable;
  /** The topics to which the queues of this process subscribe. The caller fills it before the runner starts. */
  readonly subscriptions: Map<string, readonly Subscription[]>;
  /** The events of this process. */
  readonly events: QueueEvents;
  /** The events of all processes, from the start of `feed` on. */
  readonly eventsAnywhere: QueueEvents;
  readonly feed: EventFeed;
  readonly notifier: WorkNotifier;
  readonly producer: QueueProducer;
  readonly admin: QueueAdmin;
  readonly consumer: QueueConsumer;
  readonly runner: SqlQueueRunner;
  readonly logger: JobLogger;
  readonly clock: Clock;
  readonly shutdown: EngineShutdown;
}

/**
 * Connects to the database, prepares the tables and wires the subsystems. It starts no work: `runner.start()` and
 * `feed.start()` do. If it rejects, it leaves nothing open.
 */
export async function openEngine(given: EngineSettings): Promise<Engine> {
  const { dataSource, clock = systemClock } = given;
  checkDatabaseType(dataSource.options.type);
  const ownDataSource = dataSource.isInitialized ? undefined : dataSource;
  try {
    if (ownDataSource) checkSqliteDriver(ownDataSource.options);
    await ownDataSource?.initialize();
    return await wire(given, ownDataSource);
  } catch (error) {
    if (ownDataSource?.isInitialized) await closeDataSource(ownDataSource, clock);
    throw explainMissingPrivilege(error);
  }
}

async function wire(given: EngineSettings, ownDataSource: DataSource | undefined): Promise<Engine> {
  const core = createCore(given);
  // Before the store opens: it rejects a database that another thread cannot reach.
  const createHeartbeat = createHeartbeatFactory(core, given);
  // The store emits no event before a job changes, which is after this function.
  const stores = await openStores(core, given, () => events.onCommitted());
  const events = createEvents(core, stores);
  const notifier = new WorkNotifier(stores.workerChannel, core.clock);
  const waits = createWaits(core, stores, notifier);
  const built = { core, stores, events, waits, notifier };
  const { runner, handlers, subscriptions } = createRunner(built, createHeartbeat);
  const admin = createAdmin(built);
  return {
    settings: core.settings,
    stores,
    handlers,
    subscriptions,
    events: events.local,
    eventsAnywhere: events.anywhere,
    feed: events.feed,
    notifier,
    producer: createProducer(built, admin),
    admin,
    consumer: createConsumer(built),
    runner,
    logger: core.logger,
    clock: core.clock,
    shutdown: createShutdown(built, runner, ownDataSource),
  };
}
