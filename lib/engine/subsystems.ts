import type { DataSource } from 'typeorm';
import type { AuditTrail } from '../audit/audit-trail.js';
import { systemClock, DatabaseClock, NO_SKEW, type Clock, type Skew } from '../common/clock.js';
import type { JobLogger } from '../common/logger.js';
import { resolveCodec } from '../job/codec/codec-options.js';
import { InvalidOptionsError } from '../job/errors.js';
import { QueueEvents } from '../listen/queue-events.js';
import { resolveOptions } from '../job/option-schema.js';
import type { QueueOptions } from '../job/queue-options.js';
import { EventFeed } from '../listen/event-feed.js';
import { WaitNotifier } from '../listen/wait-notifier.js';
import { Waiter } from '../listen/waiter.js';
import type { Instrumentations } from '../instrumentation/instrumentations.js';
import type { MetricsRecorder } from '../instrumentation/metrics-recorder.js';
import type { UnservedQueues } from '../producer/unserved-queues.js';
import { hostList } from '../store/databases/port/hosts.js';
import { withCodec } from '../store/codec/with-codec.js';
import { openStore, type OpenStore } from '../store/open-store.js';
import type { FlowSettler } from '../worker/complete/flow-settler.js';
import type { WorkNotifier } from '../worker/work-notifier.js';
import { resolveWorkerOptions } from '../worker/worker-options.js';
import type { ConnectSettings } from './connect.js';
import { AUDIT_RETENTION, CODE_SCHEDULES, type EngineOptions } from './engine-options.js';
import { QueueSettings } from './queue-settings.js';

/** The options of an application, and the surroundings that tests replace. */
export interface EngineSettings {
  /** The engine connects it if it is not connected, and closes only a connection that it opened. */
  readonly dataSource: DataSource;
  /** The application connects the DataSource: if it has not yet, the engine waits for it instead. */
  readonly isApplications?: boolean | undefined;
  /** Default: one attempt. */
  readonly connect?: ConnectSettings | undefined;
  /** Prefix of the table names. Default `sql_queue_`. */
  readonly prefix?: string | undefined;
  readonly options: EngineOptions;
  /** The options that handlers declare, by queue, as far as they are known before the store opens. */
  readonly declaredOptions?: ReadonlyMap<string, QueueOptions> | undefined;
  readonly logger: JobLogger;
  readonly clock?: Clock | undefined;
  /** Returns numbers from 0 to below 1, for jitter and for the choice between queues. Default `Math.random`. */
  readonly random?: (() => number) | undefined;
  readonly skew?: Skew | undefined;
  readonly openStore?: typeof openStore | undefined;
}

export type EngineCore = ReturnType<typeof createCore>;

/** The subsystems that all others are built from. */
export interface EngineBase {
  readonly core: EngineCore;
  readonly stores: OpenStore;
  readonly events: ReturnType<typeof createEvents>;
  readonly waits: ReturnType<typeof createWaits>;
  readonly notifier: WorkNotifier;
  readonly settler: FlowSettler;
  readonly unserved: UnservedQueues;
  /** Those of the options, the recorder, and those that an entry point adds. */
  readonly instrumentations: Instrumentations;
  readonly recorder: MetricsRecorder;
  readonly audit: AuditTrail;
}

export function createCore(given: EngineSettings) {
  const { options, declaredOptions, logger, clock = systemClock, random = Math.random, skew = NO_SKEW } = given;
  const codec = resolveCodec(options, clock, logger);
  const settings = new QueueSettings(options, codec);
  for (const [queue, declared] of declaredOptions ?? []) settings.setDecoratedOptions(queue, declared);
  InvalidOptionsError.throwIfAny('Invalid options', settings.blobProblems());
  const workerOptions = resolveWorkerOptions(typeof options.worker === 'object' ? options.worker : {});
  const { revision = clock.now().getTime(), keepUndeclared } = resolveOptions(CODE_SCHEDULES, options.schedules ?? {});
  const schedules = { revision: String(revision), keepUndeclared };
  const databaseClock = new DatabaseClock(clock);
  const auditRetentionMs = AUDIT_RETENTION.resolve(options.auditRetention);
  // One list for all connections, also those of other threads: a failover of one is a failover of all.
  const hosts = hostList(options.hosts);
  return {
    ...{ settings, codec, workerOptions, schedules, auditRetentionMs, hosts, optionsFor: settings.of },
    ...{ logger, clock, databaseClock, random, skew },
  };
}

export async function openStores(
  { settings, codec, workerOptions, hosts, logger, clock, skew }: EngineCore,
  { dataSource, prefix, options, openStore: open = openStore }: EngineSettings,
  onEventsCommitted: () => void,
  onRetry: (code: string) => void,
): Promise<OpenStore> {
  const opened = await open({
    dataSource,
    prefix,
    hosts,
    archives: settings.archives,
    clock,
    skew,
    migrate: options.schema?.migrate ?? 'run',
    onRetry,
    eventOutbox: { emitsEvents: settings.emitsEvents, onEventsCommitted },
    ...settings.extremes,
  });
  codec?.blobs?.useRows(opened.blobRows);
  const stores = codec ? withCodec(opened, codec) : opened;
  for (const notice of stores.notices) logger.warn(notice);
  if (workerOptions.usesNotifications) return stores;
  return { ...stores, workerChannel: undefined, waiterChannel: undefined, eventChannel: undefined };
}

export function createEvents({ logger, clock }: EngineCore, { events: store, eventChannel: channel }: OpenStore) {
  const anywhere = new QueueEvents(logger);
  const feed = new EventFeed(store, channel, clock, logger, anywhere);
  return {
    local: new QueueEvents(logger),
    anywhere,
    feed,
    onCommitted: () => {
      feed.poll();
      channel?.notifyAll();
    },
  };
}

export function createWaits(core: EngineCore, stores: OpenStore, notifier: WorkNotifier) {
  const { clock, logger, random, optionsFor } = core;
  const { waits: store, waiterChannel: channel, jobLogs } = stores;
  const notifyWorkers = () => notifier.poll();
  const waiter = new Waiter({ store, jobLogs, channel, clock, logger, random, optionsFor, notifyWorkers });
  const waitNotifier = new WaitNotifier(store, channel, waiter);
  return {
    waiter,
    waitNotifier,
    close: async () => {
      await waiter.close();
      await waitNotifier.idle();
      await channel?.close();
    },
  };
}
