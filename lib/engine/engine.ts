import type { DataSource } from 'typeorm';
import { AuditTrail } from '../audit/audit-trail.js';
import { systemClock } from '../common/clock.js';
import { UnsupportedDatabaseError } from '../job/errors.js';
import { Instrumentations } from '../instrumentation/instrumentations.js';
import { MetricsRecorder } from '../instrumentation/metrics-recorder.js';
import { UnservedQueues } from '../producer/unserved-queues.js';
import { closeDataSource } from '../store/close-data-source.js';
import { explainRejection } from '../store/core/classify-error.js';
import { databaseOf } from '../store/databases/index.js';
import { FlowSettler } from '../worker/complete/flow-settler.js';
import { WorkNotifier } from '../worker/work-notifier.js';
import { connect, CONNECT_ONCE } from './connect.js';
import { EngineShutdown } from './engine-shutdown.js';
import { createAdmin, createConsumer, createProducer, createRunner, createSchedules } from './create.js';
import { createHeartbeatFactory } from './heartbeat-factory.js';
import { ownQueuesOf } from './own-queues.js';
import { LateStores } from './late-stores.js';
import { createCore, createEvents, createWaits, openStores, type EngineSettings } from './subsystems.js';

/** All subsystems of one queue in one process. */
export type Engine = Awaited<ReturnType<typeof wire>>;

/**
 * Connects to the database, prepares the tables and wires the subsystems. It starts no work: `runner.start()` and
 * `feed.start()` do. If it rejects, it leaves nothing open.
 */
export async function openEngine(given: EngineSettings): Promise<Engine> {
  const { dataSource, clock = systemClock } = given;
  const { connection } = databaseOf(dataSource.options.type);
  const ownDataSource = dataSource.isInitialized || given.isApplications ? undefined : dataSource;
  try {
    const driverProblem = ownDataSource && connection.driverProblem?.(ownDataSource.options);
    if (driverProblem) throw new UnsupportedDatabaseError(driverProblem);
    if (ownDataSource) await connect(ownDataSource, given.connect ?? CONNECT_ONCE, clock, given.logger);
    return await wire(given, ownDataSource);
  } catch (error) {
    if (ownDataSource?.isInitialized) await closeDataSource(ownDataSource, clock);
    throw explainRejection(error);
  }
}

async function wire(given: EngineSettings, ownDataSource: DataSource | undefined) {
  const core = createCore(given);
  // Before the store opens: it rejects a database that another thread cannot reach.
  const createHeartbeat = createHeartbeatFactory(core, given);
  await core.codec?.blobs?.check();
  const { clock, databaseClock, logger } = core;
  const { instrumentations: own = [], context } = given.options;
  const instrumentations = new Instrumentations(own, databaseClock, logger, context);
  const onRetry = (code: string) => instrumentations.databaseRetried(code);
  // The store emits no event before a job changes, which is after this function.
  const open = () => openStores(core, given, () => events.onCommitted(), onRetry);
  const { dataSource } = given;
  const isLate = given.isApplications && !dataSource.isInitialized;
  const lateStores = isLate ? new LateStores(dataSource, core.workerOptions.usesNotifications, open) : undefined;
  const stores = lateStores?.stores ?? (await open());
  const events = createEvents(core, stores);
  const notifier = new WorkNotifier(stores.workerChannel, clock);
  const waits = createWaits(core, stores, notifier);
  const settler = new FlowSettler({
    clock,
    flows: stores.flows,
    retentionOf: (queue) => core.optionsFor(queue).retention.deadMs,
    events: events.local,
    waitNotifier: waits.waitNotifier,
    notifier,
  });
  const unserved = new UnservedQueues({
    store: stores.queues,
    expectsWorker: (queue) => core.optionsFor(queue).expectWorker,
    isServedHere: (queue) => notifier.serves(queue),
    clock,
    logger,
  });
  const recorder = new MetricsRecorder({ store: stores.metrics, clock, databaseClock, logger });
  instrumentations.add(recorder);
  const audit = new AuditTrail({ hook: given.options.audit, clock, jobs: stores.jobs, logger });
  const built = { core, stores, events, waits, notifier, settler, unserved, instrumentations, recorder, audit };
  const { runner, handlers, subscriptions, schedules } = createRunner(built, createHeartbeat);
  const ownQueues = ownQueuesOf({ settings: core.settings, handlers, runner, subscriptions, schedules });
  return {
    settings: core.settings,
    stores,
    /** Undefined if the stores are open. */
    lateStores,
    handlers,
    /** The topics to which the queues of this process subscribe. The caller fills it before the runner starts. */
    subscriptions,
    /** The schedules from code. The caller fills it before the runner starts. */
    declaredSchedules: schedules,
    /** The events of this process. */
    events: events.local,
    /** The events of all processes, from the start of `feed` on. */
    eventsAnywhere: events.anywhere,
    feed: events.feed,
    settler,
    /** Those of the options, and those that an entry point adds. */
    instrumentations,
    notifier,
    unserved,
    producer: createProducer(built),
    admin: createAdmin(built, ownQueues),
    consumer: createConsumer(built),
    schedules: createSchedules(built),
    runner,
    logger,
    clock,
    shutdown: new EngineShutdown(built, runner, ownDataSource),
  };
}
