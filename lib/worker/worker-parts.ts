import type { Clock, DatabaseClock } from '../common/clock.js';
import type { JobLogger } from '../common/logger.js';
import type { QueueEvents } from '../listen/queue-events.js';
import type { NewSchedule } from '../job/schedules/schedule.js';
import type { ProcessorOptions } from '../job/processor-options.js';
import type { ResolvedQueueOptions } from '../job/queue-options.js';
import type { Subscription } from '../job/topics.js';
import type { WaitNotifier } from '../listen/wait-notifier.js';
import type { Instrumentations } from '../instrumentation/instrumentations.js';
import type { JobStore } from '../store/verbs/job-store.js';
import type { FlowStore } from '../store/features/flows/flow-store.js';
import type { GroupStore } from '../store/features/groups/group-store.js';
import type { LimitStore } from '../store/features/limits/limit-store.js';
import type { NotificationChannel } from '../store/notifications/notification-channel.js';
import type { JobLogStore } from '../store/features/logs/job-log-store.js';
import type { ScheduleStore } from '../store/features/schedules/schedule-store.js';
import type { StepStore } from '../store/features/steps/step-store.js';
import type { QueueStore } from '../store/features/queues/queue-store.js';
import type { WorkerLockStore } from '../store/verbs/worker-lock-store.js';
import type { WorkerRegistry } from '../store/features/workers/worker-registry.js';
import type { FlowSettler } from './complete/flow-settler.js';
import type { Heartbeat, HeartbeatSettings } from './heartbeat/heartbeat.js';
import type { PruneTask } from './pruner.js';
import type { HandlerTable } from './run/handler-table.js';
import type { ResolvedWorkerOptions } from './worker-options.js';

/** The schedules from code. */
export interface CodeSchedules {
  /** By name. Complete before the worker starts. */
  readonly declared: ReadonlyMap<string, NewSchedule>;
  /** Of this program: a schedule is not replaced by an older revision of it. */
  readonly revision: string;
}

/** The ports of the store that a worker calls. */
export interface WorkerStores {
  readonly jobs: JobStore;
  readonly workers: WorkerRegistry;
  readonly queues: QueueStore;
  /** Undefined if this process neither sends nor receives notifications. */
  readonly workerChannel: NotificationChannel | undefined;
  /** Undefined if the database does not support claims by `lock`. */
  readonly workerLocks: WorkerLockStore | undefined;
  readonly jobLogs: JobLogStore;
  readonly schedules: ScheduleStore;
  readonly limits: LimitStore;
  readonly groups: Pick<GroupStore, 'rest'>;
  readonly steps: StepStore;
  readonly flows: FlowStore;
}

/** The surroundings of the worker of a process. */
export interface WorkerParts {
  readonly stores: WorkerStores;
  readonly subscriptions: ReadonlyMap<string, readonly Subscription[]>;
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
  readonly codeSchedules: CodeSchedules;
  readonly settler: FlowSettler;
  readonly pruneTasks: readonly PruneTask[];
}
