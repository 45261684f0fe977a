import type { ResolvedQueueOptions } from '../job/queue-options.js';
import type { ResolvedWaitOptions } from '../job/wait-options.js';
import type { Instrumentations } from '../instrumentation/instrumentations.js';
import type { JobStore } from '../store/verbs/job-store.js';
import type { FlowStore } from '../store/features/flows/flow-store.js';
import type { StepStore } from '../store/features/steps/step-store.js';
import type { QueueStore } from '../store/features/queues/queue-store.js';
import type { Clock } from '../common/clock.js';
import type { EnqueuedJob } from './enqueued-job.js';
import type { UnservedQueues } from './unserved-queues.js';

/** Cancels jobs and waits for them, whichever producer enqueued them. */
export interface JobTracker {
  /** See QueueAdmin.cancel. */
  cancel(id: number): Promise<boolean>;
  waitFor(id: number, options: ResolvedWaitOptions): Promise<unknown>;
  /** Waits for a job that was enqueued with `reply`. */
  waitForReply(id: number, queue: string, options: ResolvedWaitOptions): Promise<unknown>;
}

/** Notifications for workers, so that a new job need not wait for the next poll. */
export interface ProducerNotifier {
  /** Whether a worker of this process works the queue. */
  serves(queue: string): boolean;
  /** Jobs of the queue are about to be committed. */
  prepare(queue: string): void;
  /** That many jobs of the queue are waiting. */
  wake(queue: string, jobs: number): void;
  expectDue(queue: string, ms: number): void;
  /** A job of the queue will be due at that time, in milliseconds since 1970. */
  expectAt(queue: string, time: number): void;
}

export interface ProducerParts {
  readonly store: Pick<
    JobStore,
    'enqueue' | 'enqueueStatement' | 'enqueueKeyed' | 'enqueueKeyedInTransaction' | 'afterCommit' | 'countWaiting'
  >;
  readonly queueStore: Pick<QueueStore, 'subscribers'>;
  readonly steps: Pick<StepStore, 'signal' | 'wakeWaiting'>;
  readonly flows: Pick<FlowStore, 'create'>;
  readonly clock: Clock;
  readonly optionsFor: (queue: string) => ResolvedQueueOptions;
  readonly notifier: ProducerNotifier;
  readonly tracker: JobTracker;
  /** Undefined for test doubles, which have no workers. */
  readonly unserved?: Pick<UnservedQueues, 'onEnqueued'>;
  /** Undefined if none surrounds these calls. */
  readonly instrumentations?: Instrumentations['ofProducers'];
  /** Emits jobs after they have been committed. */
  readonly events: {
    readonly hasAnyListener: boolean;
    emitChanges(event: 'enqueued', jobs: readonly EnqueuedJob[]): void;
  };
}
