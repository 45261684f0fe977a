import type { DataSource } from 'typeorm';
import { QueueAdmin } from '../../lib/admin/queue-admin.js';
import { QueueConsumer } from '../../lib/consumer/queue-consumer.js';
import { overlay, resolveQueueOptions, type QueueOptions } from '../../lib/job/queue-options.js';
import { ThreadPulse } from '../../lib/heartbeat/thread-pulse.js';
import type { ProcessorOptions } from '../../lib/job/processor-options.js';
import { subscriptionsOf, type SubscriptionOptions } from '../../lib/job/topics.js';
import { QUEUE_EVENTS } from '../../lib/job/queue-event.js';
import { isFinal } from '../../lib/job/outcome.js';
import { QueueProducer } from '../../lib/producer/queue-producer.js';
import { FailureLog } from '../../lib/runtime/failure-log.js';
import { HandlerTable } from '../../lib/runtime/handler-table.js';
import { JobEvents } from '../../lib/runtime/job-events.js';
import { QueueEvents } from '../../lib/runtime/queue-events.js';
import type { Handler, HandlerEntry } from '../../lib/runtime/run.js';
import { RescuedJobs } from '../../lib/runtime/rescued-jobs.js';
import { SqlQueueRunner } from '../../lib/runtime/sql-queue-runner.js';
import { SteeringEvents } from '../../lib/runtime/steering-events.js';
import { WorkNotifier } from '../../lib/runtime/work-notifier.js';
import type { WorkerParts } from '../../lib/runtime/worker.js';
import { resolveWorkerOptions, type WorkerOptions } from '../../lib/runtime/worker-options.js';
import type { JobStore } from '../../lib/store/job-store.js';
import type { QueueStore } from '../../lib/store/queue-store.js';
import { leaseDatabase } from '../../lib/store/open-leases.js';
import { hostList } from '../../lib/store/dialects/hosts.js';
import { openStore } from '../../lib/store/open-store.js';
import { systemClock, type Clock } from '../../lib/time/clock.js';
import { EventFeed } from '../../lib/waiting/event-feed.js';
import { FollowedJobs } from '../../lib/waiting/followed-jobs.js';
import { openWaiting } from '../../lib/waiting/open-waiting.js';
import { EventLog } from './event-log.js';
import { ObservedDoorbell } from './observed-doorbell.js';

export interface EngineSettings {
  readonly dataSource: DataSource;
  /** What each queue does with its jobs, or with those of each name. */
  readonly handlers?: Record<string, Handler | HandlerEntry | Record<string, Handler | HandlerEntry>> | undefined;
  /** What the queues get copies of. */
  readonly subscriptions?: Record<string, SubscriptionOptions> | undefined;
  readonly queues?: Record<string, QueueOptions> | undefined;
  readonly defaults?: QueueOptions | undefined;
  readonly worker?: WorkerOptions | undefined;
  /** The runtime's clock. The store's own patience always takes real time, unless `storeClock` says otherwise. */
  readonly clock?: Clock | undefined;
  readonly storeClock?: Clock | undefined;
  readonly skewMs?: (() => number) | undefined;
  readonly hosts?: readonly string[] | undefined;
}

/** A queue's producer, worker and admin over a real store, without Nest. */
export interface Engine {
  readonly store: JobStore;
  readonly queueStore: QueueStore;
  readonly runner: SqlQueueRunner;
  readonly notifier: WorkNotifier;
  readonly producer: QueueProducer;
  readonly admin: QueueAdmin;
  readonly consumer: QueueConsumer;
  readonly doorbell: ObservedDoorbell;
  /** At which this process listens while it waits for jobs. */
  readonly waitersBell: ObservedDoorbell;
  /** At which it listens while it hears what becomes of jobs anywhere. */
  readonly eventsBell: ObservedDoorbell;
  readonly events: EventLog;
  /** Tells all there is to hear in this process. */
  readonly bus: QueueEvents;
  /** What becomes of jobs in all processes, from now on. */
  hearAnywhere(): Promise<EventLog>;
  /** What was said, as 'level: text'. */
  readonly log: string[];
  close(): Promise<void>;
}

// Retries at once, and polls that do not make a test wait.
const QUICK: QueueOptions = { retry: { attempts: 3, backoff: 0 } };
const QUICK_POLL = { min: '1ms', max: '20ms' } as const;

export async function openEngine(settings: EngineSettings): Promise<Engine> {
  const { dataSource, queues = {}, clock = systemClock, storeClock = systemClock, worker = {} } = settings;
  const defaults = overlay(QUICK, settings.defaults ?? {});
  const defined = new Map<string, QueueOptions>();
  const subscriptions = subscriptionsOfAll(settings.subscriptions ?? {});
  const optionsFor = (queue: string) =>
    resolveQueueOptions(overlay(overlay(defaults, defined.get(queue) ?? {}), queues[queue] ?? {}));
  const shortestLeaseMs = Math.min(...['', ...Object.keys(queues)].map((queue) => optionsFor(queue).leaseMs));
  const skewMs = settings.skewMs ?? (() => 0);
  const options = resolveWorkerOptions({ poll: QUICK_POLL, ...worker });
  const hosts = hostList(settings.hosts);
  const leases =
    options.heartbeat === 'thread'
      ? leaseDatabase(dataSource, { prefix: undefined, hosts, shortestLeaseMs, skewMs: skewMs() })
      : undefined;
  const {
    jobs: store,
    admin,
    queues: queueStore,
    consumer,
    waits,
    traces,
    doorbell: unobserved,
    waitersBell: unobservedWaiters,
    events: eventStore,
    eventsBell: unobservedEvents,
    locks,
  } = await openStore({
    ...{ dataSource, hosts, migrate: 'run', clock: storeClock, skewMs, shortestLeaseMs },
    largestPayloadBytes: 1_048_576,
    recorder: { isRecorded: (queue) => optionsFor(queue).events, onRecorded: () => recorded() },
  });
  // All databases of these tests can be had by several processes.
  const doorbell = new ObservedDoorbell(unobserved!);
  const waitersBell = new ObservedDoorbell(unobservedWaiters!);
  const eventsBell = new ObservedDoorbell(unobservedEvents!);
  const log: string[] = [];
  const say = (level: string) => (text: string) => void log.push(`${level}: ${text}`);
  const logger = { log: say('log'), warn: say('warn'), error: say('error'), debug: say('debug') };
  const bus = new QueueEvents(logger);
  const jobEvents = new JobEvents(bus);
  const events = new EventLog();
  events.listenTo(bus);
  const anywhere = new QueueEvents(logger);
  const rung = options.doorbell ? eventsBell : undefined;
  const feed = new EventFeed({ store: eventStore, bell: rung, clock, logger, listeners: anywhere });
  const recorded = () => {
    feed.look();
    rung?.ringAll();
  };
  const waiting = openWaiting({
    ...{ store: waits, traces, clock, logger, random: () => 0.5, optionsFor },
    bell: options.doorbell ? waitersBell : undefined,
    tellWorkers: () => notifier.look(),
  });
  const { awaited } = waiting;
  const workersBell = options.doorbell ? doorbell : undefined;
  const notifier = new WorkNotifier(workersBell, clock);
  const runnerParts: WorkerParts = {
    ...{
      store,
      queueStore,
      subscriptions,
      define: (queue: string, options: ProcessorOptions) => {
        const { batch: _, topic, where, ...ofQueue } = options;
        defined.set(queue, ofQueue);
        if (topic !== undefined) subscriptions.set(queue, subscriptionsOf({ topic, ...(where && { where }) }));
      },
      doorbell: workersBell,
      locks,
      clock,
      logger,
      random: () => 0.5,
      handlers: handlerTable(settings.handlers ?? {}),
      events: bus,
      awaited,
      traces,
      prunings: [
        (limit) => store.prune(limit),
        (limit) => waits.pruneWaits(limit),
        (limit) => traces.pruneTraces(limit),
        (limit) => eventStore.pruneEvents(limit),
        (limit) => store.sweep(limit),
        (limit) => store.pruneKeys(limit),
        () => queueStore.expire().then(() => 0),
      ],
      optionsFor,
    },
    options,
    pulse: leases && ((given) => new ThreadPulse(leases, options.maxBlockedMs, systemClock, given)),
  };
  const runner = new SqlQueueRunner(runnerParts, notifier);
  const steering = new SteeringEvents(bus);
  const failures = new FailureLog(logger, optionsFor);
  const rescues = new RescuedJobs({
    ...{ events: bus, awaited, logger, failures },
    share: (queue, jobs) => notifier.wake(queue, jobs),
    expectDue: (queue, ms) => notifier.expectDue(queue, ms),
  });
  const queueAdmin = new QueueAdmin({
    store: admin,
    jobs: store,
    queues: queueStore,
    optionsFor,
    runner: notifier,
    awaited,
    events: steering,
  });
  const following = new FollowedJobs(waiting.waiter, (id) => queueAdmin.cancel(id));
  return {
    ...{ store, queueStore, doorbell, waitersBell, eventsBell, runner, notifier, events, bus, log },
    hearAnywhere: async () => {
      const heard = new EventLog();
      heard.listenTo(anywhere, [...QUEUE_EVENTS]);
      await feed.start();
      return heard;
    },
    producer: new QueueProducer({ store, queueStore, optionsFor, hints: notifier, clock, following, events: steering }),
    admin: queueAdmin,
    consumer: new QueueConsumer({
      ...{ store: consumer, jobs: store, optionsFor, random: () => 0.5, clock, logger, hints: notifier },
      claimed: (jobs, owner) => jobEvents.claimed(jobs, owner),
      promoted: (jobs) => jobEvents.promoted(jobs),
      rescued: (rescued) => rescues.tell(rescued),
      ended: (job, outcome, ...told) => {
        jobEvents.settled(job, outcome, ...told);
        failures.settled(job, outcome);
        if (isFinal(outcome)) awaited.changedForSure(job.id);
      },
    }),
    close: async () => {
      await runner.stop({ timeout: 0 });
      await waiting.close();
      await feed.stop();
      await eventsBell.close();
      await doorbell.close();
      await store.close();
    },
  };
}

function subscriptionsOfAll(given: Record<string, SubscriptionOptions>) {
  return new Map(Object.entries(given).map(([queue, options]) => [queue, subscriptionsOf(options)]));
}

function handlerTable(handlers: NonNullable<EngineSettings['handlers']>): HandlerTable {
  const table = new HandlerTable();
  for (const [queue, handler] of Object.entries(handlers)) {
    if (typeof handler === 'function') table.add(queue, undefined, { handle: handler });
    else if (isEntry(handler)) table.add(queue, undefined, handler);
    else
      for (const [name, one] of Object.entries(handler))
        table.add(queue, name, typeof one === 'function' ? { handle: one } : one);
  }
  return table;
}

function isEntry(handler: HandlerEntry | Record<string, Handler | HandlerEntry>): handler is HandlerEntry {
  return 'batch' in handler;
}
