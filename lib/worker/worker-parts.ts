import type { Clock } from '../common/clock.js';
import type { DatabaseClock } from '../common/database-clock.js';
import type { JobLogger } from '../common/job-logger.js';
import type { QueueEvents } from '../listen/queue-events.js';
import type { ClaimedJob } from '../job/job.js';
import type { Delay } from '../job/outcome.js';
import type { ProcessorOptions } from '../job/processor-options.js';
import type { ResolvedQueueOptions } from '../job/queue-options.js';
import type { Subscription } from '../job/topics.js';
import type { WaitNotifier } from '../listen/wait-notifier.js';
import type { Instrumentations } from '../metrics/instrumentations.js';
import type { JobStore } from '../store/jobs/job-store.js';
import type { FlowStore } from '../store/flows/flow-store.js';
import type { GroupStore } from '../store/groups/group-store.js';
import type { LimitStore } from '../store/limits/limit-store.js';
import type { NotificationChannel } from '../store/notifications/notification-channel.js';
import type { JobLogStore } from '../store/results/job-log-store.js';
import type { StepStore } from '../store/steps/step-store.js';
import type { QueueStore } from '../store/topics/queue-store.js';
import type { WorkerLockStore } from '../store/workers/worker-lock-store.js';
import type { WorkerRegistry } from '../store/workers/worker-registry.js';
import type { Completer } from './complete/completer.js';
import type { FlowSettler } from './complete/flow-settler.js';
import type { Heartbeat, HeartbeatSettings } from './heartbeat/heartbeat.js';
import type { LeaseRenewer } from './heartbeat/lease-renewer.js';
import type { PruneTask } from './pruner.js';
import type { Slots } from './queue/queue-slots.js';
import type { QueueStrategies } from './queue/queue-strategies.js';
import type { HandlerTable } from './run/handler-table.js';
import type { JobLogWriter } from './run/job-log-writer.js';
import type { ScheduleParts } from './schedule-runner.js';
import type { ResolvedWorkerOptions } from './worker-options.js';

export interface WorkerParts {
  readonly store: JobStore;
  readonly workerRegistry: WorkerRegistry;
  readonly queueStore: QueueStore;
  readonly subscriptions: ReadonlyMap<string, readonly Subscription[]>;
  /** Undefined if this process neither sends nor receives notifications. */
  readonly workerChannel: NotificationChannel | undefined;
  /** Undefined if the database does not support claims by `lock`. */
  readonly workerLocks: WorkerLockStore | undefined;
  /** Default: a heartbeat on this event loop. */
  readonly createHeartbeat?: ((settings: HeartbeatSettings) => Heartbeat) | undefined;
  readonly clock: Clock;
  readonly databaseClock: DatabaseClock;
  readonly instrumentations: Instrumentations;
  readonly logger: JobLogger;
  readonly random: () => number;
  readonly handlers: HandlerTable;
  /** For a handler that is added at run time. Throws InvalidOptionsError if the options contradict others. */
  readonly defineQueue: (queue: string, options: ProcessorOptions) => void;
  readonly optionsFor: (queue: string) => ResolvedQueueOptions;
  readonly workerOptions: ResolvedWorkerOptions;
  readonly events: QueueEvents;
  readonly waitNotifier: WaitNotifier;
  readonly jobLogs: JobLogStore;
  readonly schedules: ScheduleParts;
  readonly limits: LimitStore;
  readonly groups: Pick<GroupStore, 'rest'>;
  readonly steps: StepStore;
  readonly flows: FlowStore;
  readonly flowSettler: FlowSettler;
  readonly pruneTasks: readonly PruneTask[];
}

/** The parts of the worker of one queue. */
export interface QueueWorkerParts extends WorkerParts {
  readonly workerId: string;
  readonly queue: string;
  readonly options: ResolvedQueueOptions;
  readonly slots: Slots;
  readonly completer: Completer;
  readonly leases: LeaseRenewer;
  readonly jobLogWriter: JobLogWriter;
  /** This and the next two are undefined if no instrumentation of this process has such a method. */
  readonly enqueueInstrumentations?: Instrumentations['ofProducers'];
  readonly runInstrumentations?: Instrumentations['ofRuns'];
  readonly onDatabaseCall?: Instrumentations['ofDatabase'];
  readonly strategies: QueueStrategies;
  /** The worker lock to claim under. 0: the strategy needs none. Undefined: the worker has no lock at the moment. */
  readonly lockId: () => number | undefined;
  /** Lets the group of the job, or without one its queue, rest in all processes. Never rejects. */
  readonly rest: (job: Pick<ClaimedJob, 'queue' | 'group'>, rest: Delay) => Promise<void>;
  readonly expectDue: (ms: number) => void;
  /** Called if this queue has further waiting jobs: one waits again, or a dead letter or a child of a job is new. */
  readonly announce: (queue: string, jobs: number) => void;
  /** Called when a slot of the process is free for the next job of any queue. */
  readonly onSlotFree: () => void;
  /** Called when the queue, or a part of it, has become idle. */
  readonly onIdle: () => void;
}
