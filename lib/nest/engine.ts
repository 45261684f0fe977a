import { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { QueueAdmin } from '../admin/queue-admin.js';
import { QueueConsumer } from '../consumer/queue-consumer.js';
import { ThreadPulse } from '../heartbeat/thread-pulse.js';
import type { QueueOptions } from '../job/queue-options.js';
import type { ProcessorOptions } from '../job/processor-options.js';
import { subscriptionsOf, type Subscription } from '../job/topics.js';
import { isFinal } from '../job/outcome.js';
import { QueueProducer } from '../producer/queue-producer.js';
import { FailureLog } from '../runtime/failure-log.js';
import { HandlerTable } from '../runtime/handler-table.js';
import { JobEvents } from '../runtime/job-events.js';
import { QueueEvents } from '../runtime/queue-events.js';
import { RescuedJobs } from '../runtime/rescued-jobs.js';
import { SqlQueueRunner } from '../runtime/sql-queue-runner.js';
import { SteeringEvents } from '../runtime/steering-events.js';
import { WorkNotifier } from '../runtime/work-notifier.js';
import type { PulseSettings } from '../runtime/pulse.js';
import { resolveWorkerOptions } from '../runtime/worker-options.js';
import type { JobStore } from '../store/job-store.js';
import { hostList } from '../store/dialects/hosts.js';
import { checkSqliteDriver } from '../store/dialects/sqlite-driver.js';
import { closeDataSource } from '../store/close-data-source.js';
import { leaseDatabase } from '../store/open-leases.js';
import { explained } from '../store/sql/missing-privilege.js';
import { checkDatabaseType } from '../store/supported-database.js';
import { openStore } from '../store/open-store.js';
import { systemClock, type Clock } from '../time/clock.js';
import { EventFeed } from '../waiting/event-feed.js';
import { FollowedJobs } from '../waiting/followed-jobs.js';
import { openWaiting } from '../waiting/open-waiting.js';
import { chooseDataSource, EMBEDDED_FILE } from './choose-data-source.js';
import type { FoundDataSource } from './data-sources.js';
import { EngineEnd } from './engine-end.js';
import { checkModuleOptions, type SqlQueueModuleOptions, type StaticOptions } from './module-options.js';
import { QueueSettings } from './queue-settings.js';

/** All parts of one instance of the module, wired together. Internal: the module hands out its pieces. */
export interface Engine {
  readonly options: SqlQueueModuleOptions;
  readonly settings: QueueSettings;
  readonly store: JobStore;
  readonly handlers: HandlerTable;
  /** What the queues of this process subscribe to. Found out at boot. */
  readonly subscriptions: Map<string, readonly Subscription[]>;
  readonly events: QueueEvents;
  /** Told what becomes of jobs in all processes, once the feed has started. */
  readonly eventsAnywhere: QueueEvents;
  readonly feed: EventFeed;
  readonly producer: QueueProducer;
  readonly admin: QueueAdmin;
  readonly consumer: QueueConsumer;
  readonly runner: SqlQueueRunner;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Milliseconds added to the database's time. Only the test harness ever moves it. */
  readonly skew: { ms: number };
  /** Its jobs are in the embedded file, which the application has not asked for. */
  readonly isFallback: boolean;
  readonly end: EngineEnd;
  close(): Promise<void>;
}

/**
 * Opens the store and wires the rest to it. Leaves nothing open where it rejects.
 *
 * @param resolved the provider under the default DataSource's token, or under the one that is given
 * @param found all DataSources of the application, as far as they are known
 * @param decorated what decorators say of queues, as far as it is known
 */
export async function startEngine(
  options: SqlQueueModuleOptions,
  given: StaticOptions,
  resolved: DataSource | undefined,
  found: readonly FoundDataSource[],
  decorated: ReadonlyMap<string, QueueOptions>,
): Promise<Engine> {
  checkModuleOptions(options);
  const settings = new QueueSettings(options);
  for (const [queue, said] of decorated) settings.decorate(queue, said);
  const { name, prefix } = given;
  const logger = new Logger(name ? `SqlQueue:${name}` : 'SqlQueue');
  const { dataSource, isFallback } = chooseDataSource(options, given, resolved, found);
  if (isFallback) logger.log(`No DataSource in the application: the queue is kept in ${EMBEDDED_FILE}.`);
  checkDatabaseType(dataSource.options.type);
  // Whoever connects it lets it go.
  const own = dataSource.isInitialized ? undefined : dataSource;
  try {
    if (own) checkSqliteDriver(own.options);
    await own?.initialize();
    return { ...(await wire(options, settings, prefix, dataSource, logger, own)), isFallback };
  } catch (error) {
    if (own?.isInitialized) await closeDataSource(own, systemClock);
    throw explained(error);
  }
}

async function wire(
  options: SqlQueueModuleOptions,
  settings: QueueSettings,
  prefix: string | undefined,
  dataSource: DataSource,
  logger: Logger,
  own: DataSource | undefined,
): Promise<Omit<Engine, 'isFallback'>> {
  const skew = { ms: 0 };
  const workerOptions = resolveWorkerOptions(typeof options.worker === 'object' ? options.worker : {});
  const { heartbeat, maxBlockedMs } = workerOptions;
  const { shortestLeaseMs } = settings.extremes;
  const hosts = hostList(options.hosts);
  const leases =
    heartbeat === 'thread' ? leaseDatabase(dataSource, { prefix, hosts, shortestLeaseMs, skewMs: 0 }) : undefined;
  const pulse = leases && ((given: PulseSettings) => new ThreadPulse(leases, maxBlockedMs, systemClock, given));
  const {
    jobs: store,
    admin: adminStore,
    queues: queueStore,
    consumer: consumerStore,
    waits,
    traces,
    events: eventStore,
    doorbell,
    waitersBell,
    eventsBell,
    locks,
    notices,
  } = await openStore({
    ...{
      dataSource,
      prefix,
      hosts,
      archives: settings.archives,
      clock: systemClock,
      skewMs: () => skew.ms,
      migrate: options.schema?.migrate ?? 'run',
      recorder: { isRecorded: (queue) => settings.of(queue).events, onRecorded: () => recorded() },
    },
    ...settings.extremes,
  });
  for (const notice of notices) logger.warn(notice);
  const eventsAnywhere = new QueueEvents(logger);
  const rung = workerOptions.doorbell ? eventsBell : undefined;
  const feed = new EventFeed({ store: eventStore, bell: rung, clock: systemClock, logger, listeners: eventsAnywhere });
  const recorded = () => {
    feed.look();
    rung?.ringAll();
  };
  const handlers = new HandlerTable();
  const subscriptions = new Map<string, readonly Subscription[]>();
  const events = new QueueEvents(logger);
  const jobEvents = new JobEvents(events);
  const optionsFor = (queue: string) => settings.of(queue);
  const waiting = openWaiting({
    ...{ store: waits, traces, clock: systemClock, logger, random: Math.random, optionsFor },
    bell: workerOptions.doorbell ? waitersBell : undefined,
    tellWorkers: () => notifier.look(),
  });
  const { awaited } = waiting;
  const workersBell = workerOptions.doorbell ? doorbell : undefined;
  const notifier = new WorkNotifier(workersBell, systemClock);
  const common = {
    store,
    queueStore,
    subscriptions,
    doorbell: workersBell,
    locks,
    pulse,
    clock: systemClock,
    logger,
    random: Math.random,
    handlers,
    events,
    awaited,
    traces,
    prunings: [
      (limit: number) => store.prune(limit),
      (limit: number) => waits.pruneWaits(limit),
      (limit: number) => traces.pruneTraces(limit),
      (limit: number) => eventStore.pruneEvents(limit),
      (limit: number) => store.sweep(limit),
      (limit: number) => store.pruneKeys(limit),
      () => queueStore.expire().then(() => 0),
    ],
    optionsFor,
    define: (queue: string, options: ProcessorOptions) => {
      const { batch: _, topic, where, ...ofQueue } = options;
      settings.define(queue, ofQueue);
      if (topic === undefined) subscriptions.delete(queue);
      else subscriptions.set(queue, subscriptionsOf({ topic, ...(where === undefined ? {} : { where }) }));
    },
  };
  const runner = new SqlQueueRunner({ ...common, options: workerOptions }, notifier);
  const steering = new SteeringEvents(events);
  const failures = new FailureLog(logger, optionsFor);
  const rescues = new RescuedJobs({
    ...{ events, awaited, logger, failures },
    share: (queue, jobs) => notifier.wake(queue, jobs),
    expectDue: (queue, ms) => notifier.expectDue(queue, ms),
  });
  const admin = new QueueAdmin({
    store: adminStore,
    jobs: store,
    queues: queueStore,
    optionsFor,
    runner: notifier,
    awaited,
    events: steering,
  });
  const end = new EngineEnd({
    ...{
      runner,
      feed,
      waiting,
      store,
      own,
      bells: [eventsBell, doorbell].filter((bell) => bell !== undefined),
      clock: systemClock,
    },
    shutdownTimeoutMs: workerOptions.shutdownTimeoutMs,
  });
  const following = new FollowedJobs(waiting.waiter, (id) => admin.cancel(id));
  return {
    ...{
      options,
      settings,
      store,
      handlers,
      subscriptions,
      events,
      eventsAnywhere,
      feed,
      runner,
      admin,
      logger,
      skew,
      clock: systemClock,
    },
    producer: new QueueProducer({
      store,
      queueStore,
      optionsFor,
      hints: notifier,
      clock: systemClock,
      following,
      events: steering,
    }),
    consumer: new QueueConsumer({
      ...{
        store: consumerStore,
        jobs: store,
        optionsFor,
        random: Math.random,
        clock: systemClock,
        logger,
        hints: notifier,
      },
      claimed: (jobs, owner) => jobEvents.claimed(jobs, owner),
      promoted: (jobs) => jobEvents.promoted(jobs),
      rescued: (rescued) => rescues.tell(rescued),
      ended: (job, outcome, ...told) => {
        jobEvents.settled(job, outcome, ...told);
        failures.settled(job, outcome);
        if (isFinal(outcome)) awaited.changedForSure(job.id);
      },
    }),
    end,
    close: () => end.close(),
  };
}
