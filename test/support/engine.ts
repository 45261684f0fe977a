import type { DataSource } from 'typeorm';
import type { QueueAdmin } from '../../lib/admin/queue-admin.js';
import type { AuditHook } from '../../lib/audit/audit-trail.js';
import { systemClock, type Clock, type Skew } from '../../lib/common/clock.js';
import type { QueueConsumer } from '../../lib/consumer/queue-consumer.js';
import * as engine from '../../lib/engine/engine.js';
import type { QueueEvents } from '../../lib/listen/queue-events.js';
import type { QueueInstrumentation } from '../../lib/job/instrumentation.js';
import { QUEUE_EVENTS } from '../../lib/job/queue-event.js';
import type { BlobOptions } from '../../lib/job/codec/blob-options.js';
import type { CodecOption } from '../../lib/job/codec/codec-options.js';
import { overlay, type QueueOptions } from '../../lib/job/queue-options.js';
import { defined } from '../../lib/job/option-schema.js';
import type { NewSchedule } from '../../lib/job/schedules/schedule.js';
import { subscriptionsOf, type SubscriptionOptions } from '../../lib/job/topics.js';
import type { QueueProducer } from '../../lib/producer/queue-producer.js';
import type { JobStore } from '../../lib/store/verbs/job-store.js';
import type { QueueSchedules } from '../../lib/schedules/queue-schedules.js';
import type { ArchiveOptions } from '../../lib/store/tables/archive-options.js';
import type { OpenStore, StoreSettings } from '../../lib/store/open-store.js';
import type { FlowStore } from '../../lib/store/features/flows/flow-store.js';
import type { StepStore } from '../../lib/store/features/steps/step-store.js';
import type { QueueStore } from '../../lib/store/features/queues/queue-store.js';
import type { HandlerTable } from '../../lib/worker/run/handler-table.js';
import type { Handler, HandlerEntry } from '../../lib/worker/run/handler-table.js';
import type { SqlQueueRunner } from '../../lib/worker/sql-queue-runner.js';
import type { WorkNotifier } from '../../lib/worker/work-notifier.js';
import type { WorkerOptions } from '../../lib/worker/worker-options.js';
import { EventLog } from './event-log.js';
import { ObservedNotificationChannel } from './observed-notification-channel.js';
import { openRecordedStore } from './recorded-store.js';

export interface EngineSettings {
  readonly dataSource: DataSource;
  /** The handler of each queue, or the handlers of its job names. */
  readonly handlers?: Record<string, Handler | HandlerEntry | Record<string, Handler | HandlerEntry>> | undefined;
  /** The topics to which each queue subscribes. */
  readonly subscriptions?: Record<string, SubscriptionOptions> | undefined;
  /** The schedules from code. */
  readonly declaredSchedules?: readonly NewSchedule[] | undefined;
  readonly revision?: string | undefined;
  readonly queues?: Record<string, QueueOptions> | undefined;
  readonly defaults?: QueueOptions | undefined;
  readonly worker?: WorkerOptions | undefined;
  /** The clock of everything but the store, whose timeouts need real time unless `storeClock` is given. */
  readonly clock?: Clock | undefined;
  readonly storeClock?: Clock | undefined;
  readonly skewMs?: (() => number) | undefined;
  /** Default 0.5 each time. With 0, a worker prunes as soon as it starts. */
  readonly random?: (() => number) | undefined;
  readonly hosts?: readonly string[] | undefined;
  readonly instrumentations?: readonly QueueInstrumentation[] | undefined;
  readonly codec?: CodecOption | undefined;
  readonly blobs?: BlobOptions | undefined;
  readonly archive?: ArchiveOptions | undefined;
  readonly audit?: AuditHook | undefined;
}

/** An engine of the library with fast retries and polls, and with channels, events and a log that a test can observe. */
export interface Engine {
  readonly store: JobStore;
  readonly queueStore: QueueStore;
  readonly runner: SqlQueueRunner;
  readonly notifier: WorkNotifier;
  readonly producer: QueueProducer;
  readonly admin: QueueAdmin;
  readonly consumer: QueueConsumer;
  readonly schedules: QueueSchedules;
  readonly workerChannel: ObservedNotificationChannel;
  /** This process listens on it while it waits for jobs to end. */
  readonly waiterChannel: ObservedNotificationChannel;
  /** This process listens on it while it has listeners for events of all processes. */
  readonly eventChannel: ObservedNotificationChannel;
  readonly events: EventLog;
  readonly steps: StepStore;
  readonly flows: FlowStore;
  /** The events of this process. */
  readonly bus: QueueEvents;
  /** Collects the events of all processes from now on. */
  listenAnywhere(): Promise<EventLog>;
  /** The engine as the library opened it. */
  readonly opened: engine.Engine;
  /** Log lines as `level: text`. */
  readonly log: string[];
  close(): Promise<void>;
}

const IMMEDIATE_RETRIES: QueueOptions = { retry: { attempts: 3, backoff: 0 } };
const FAST_POLL = { min: '1ms', max: '20ms' } as const;

/** @param ms read for each statement */
export function changingSkew(ms: () => number): Skew {
  return {
    get ms() {
      return ms();
    },
  };
}

export async function openEngine(settings: EngineSettings): Promise<Engine> {
  const { dataSource, hosts, queues = {}, worker = {}, clock, skewMs, storeClock = systemClock } = settings;
  const { instrumentations = [], codec, blobs, archive } = settings;
  const log: string[] = [];
  const write = (level: string) => (text: string) => void log.push(`${level}: ${text}`);
  let channels!: ObservedChannels;
  const opened = await engine.openEngine({
    dataSource,
    options: {
      ...(hosts && { hosts }),
      defaults: overlay(IMMEDIATE_RETRIES, settings.defaults ?? {}),
      queues,
      instrumentations,
      ...defined({ codec, blobs, archive, audit: settings.audit }),
      worker: { poll: FAST_POLL, ...worker },
      schedules: defined({ revision: settings.revision }),
    },
    logger: { log: write('log'), warn: write('warn'), error: write('error'), debug: write('debug') },
    clock,
    random: settings.random ?? (() => 0.5),
    skew: skewMs && changingSkew(skewMs),
    openStore: async (given: StoreSettings) => {
      const stores = await openRecordedStore({ ...given, clock: storeClock });
      channels = observeChannels(stores);
      return { ...stores, ...channels };
    },
  });
  const { stores, runner, notifier, producer, admin, consumer, schedules, feed, shutdown } = opened;
  for (const schedule of settings.declaredSchedules ?? []) opened.declaredSchedules.set(schedule.name, schedule);
  addHandlers(opened.handlers, settings.handlers ?? {});
  for (const [queue, options] of Object.entries(settings.subscriptions ?? {})) {
    opened.subscriptions.set(queue, subscriptionsOf(options));
  }
  const events = new EventLog();
  events.listenTo(opened.events);
  return {
    store: stores.jobs,
    steps: stores.steps,
    flows: stores.flows,
    queueStore: stores.queues,
    runner,
    notifier,
    producer,
    admin,
    consumer,
    schedules,
    ...channels,
    events,
    bus: opened.events,
    opened,
    log,
    listenAnywhere: async () => {
      const anywhere = new EventLog();
      anywhere.listenTo(opened.eventsAnywhere, [...QUEUE_EVENTS]);
      await feed.start();
      return anywhere;
    },
    close: async () => {
      await runner.stop({ timeout: 0 });
      await shutdown.close();
    },
  };
}

type ObservedChannels = ReturnType<typeof observeChannels>;

/** The databases of these tests have a file or a server, so they have all three channels. */
function observeChannels({ workerChannel, waiterChannel, eventChannel }: OpenStore) {
  return {
    workerChannel: new ObservedNotificationChannel(workerChannel!),
    waiterChannel: new ObservedNotificationChannel(waiterChannel!),
    eventChannel: new ObservedNotificationChannel(eventChannel!),
  };
}

function addHandlers(table: HandlerTable, handlers: NonNullable<EngineSettings['handlers']>): void {
  for (const [queue, given] of Object.entries(handlers)) {
    if (typeof given === 'function' || isHandlerEntry(given)) table.add(queue, undefined, toHandlerEntry(given));
    else for (const [name, handler] of Object.entries(given)) table.add(queue, name, toHandlerEntry(handler));
  }
}

function toHandlerEntry(handler: Handler | HandlerEntry): HandlerEntry {
  return typeof handler === 'function' ? { handle: handler } : handler;
}

function isHandlerEntry(handler: HandlerEntry | Record<string, Handler | HandlerEntry>): handler is HandlerEntry {
  return 'batch' in handler;
}
