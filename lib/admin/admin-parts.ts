import type { AuditTrail } from '../audit/audit-trail.js';
import type { Clock } from '../common/clock.js';
import type { Blobs } from '../job/codec/blobs.js';
import type { ChangedJob, ChangeEvent } from '../job/queue-event.js';
import type { ResolvedQueueOptions } from '../job/queue-options.js';
import type { AdminStore } from '../store/admin/admin-store.js';
import type { Diagnosis } from '../job/problems/diagnosis.js';
import type { AuditStore } from '../store/features/audit/audit-store.js';
import type { ContentStore } from '../store/features/content/content-store.js';
import type { CallerTransaction, JobStore } from '../store/verbs/job-store.js';
import type { FlowStore } from '../store/features/flows/flow-store.js';
import type { GroupStore } from '../store/features/groups/group-store.js';
import type { LimitStore } from '../store/features/limits/limit-store.js';
import type { MetricsStore } from '../store/features/metrics/metrics-store.js';
import type { StepStore } from '../store/features/steps/step-store.js';
import type { StatsStore } from '../store/features/stats/stats-store.js';
import type { SubjectStore } from '../store/features/subjects/subject-store.js';
import type { QueueStore } from '../store/features/queues/queue-store.js';
import type { OwnQueues } from './own-queues.js';

export interface AdminParts {
  /** The open transaction of the caller, to which the changes belong. Undefined: each has its own. */
  readonly transaction?: CallerTransaction | undefined;
  readonly clock: Clock;
  readonly audit: AuditTrail;
  readonly auditEntries: Pick<AuditStore, 'list'>;
  readonly store: AdminStore;
  readonly diagnose: () => Promise<Diagnosis[]>;
  readonly jobs: Pick<JobStore, 'prune' | 'afterCommit' | 'countWaiting'>;
  readonly queues: Pick<QueueStore, 'subscribe' | 'unsubscribe' | 'subscriptions' | 'expire'>;
  readonly limits: Pick<LimitStore, 'setLimits'>;
  readonly stats: StatsStore;
  readonly metrics: Pick<MetricsStore, 'read' | 'readErrors'>;
  readonly groups: GroupStore;
  readonly flows: Pick<FlowStore, 'read' | 'list' | 'relatives'>;
  readonly steps: Pick<StepStore, 'list' | 'signals' | 'waits' | 'signal' | 'wakeWaiting'>;
  readonly subjects: SubjectStore;
  /** Undefined if this process has no codec. */
  readonly content: ContentStore | undefined;
  /** Undefined if this process has no blob store. */
  readonly blobs: Pick<Blobs, 'canDelete' | 'delete'> | undefined;
  /**
   * Call it after these jobs have ended: it notifies the callers who wait for them, and settles their flows. Never rejects.
   *
   * @param mayBeInFlow false: none of them is in a flow. Default true
   */
  readonly followEnds: (endedIds: readonly number[], mayBeInFlow?: boolean) => Promise<void>;
  /** Call it after these jobs may have been blocked: the jobs that they need may have ended meanwhile. Never rejects. */
  readonly recheckFlows: (blockedIds: readonly number[]) => Promise<void>;
  readonly optionsFor: (queue: string) => ResolvedQueueOptions;
  readonly ownQueues: OwnQueues;
  /** Notifies workers of changes that they would otherwise find with their next poll or heartbeat. */
  readonly notifier: {
    wake(queue: string): void;
    poll(): void;
    cancel(jobId: number, workerId: string): void;
    readCancelRequests(workerId: string): void;
  };
  readonly events: {
    hasListener(event: ChangeEvent): boolean;
    emitChanges(event: ChangeEvent, jobs: readonly ChangedJob[]): void;
  };
}
