import type { ClaimedJob } from '../../job/job.js';
import type { Delay } from '../../job/outcome.js';
import type { ResolvedQueueOptions } from '../../job/queue-options.js';
import type { Instrumentations } from '../../metrics/instrumentations.js';
import type { Completer } from '../complete/completer.js';
import type { LeaseRenewer } from '../heartbeat/lease-renewer.js';
import type { AttemptParts } from '../run/attempt-parts.js';
import type { JobLogWriter } from '../run/job-log-writer.js';
import type { WorkerParts } from '../worker-parts.js';
import type { Slots } from './queue-slots.js';
import type { QueueStrategies } from './queue-strategies.js';

/** The surroundings of the worker of one queue, and of its attempts. */
export interface QueueWorkerParts extends WorkerParts, AttemptParts {
  readonly queue: string;
  readonly options: ResolvedQueueOptions;
  readonly slots: Slots;
  readonly completer: Completer;
  readonly leases: LeaseRenewer;
  readonly jobLogWriter: JobLogWriter;
  /** This and the next one are undefined if no instrumentation of this process has such a method. */
  readonly runInstrumentations?: Instrumentations['ofRuns'];
  readonly onDatabaseCall?: Instrumentations['ofDatabase'];
  readonly strategies: QueueStrategies;
  /** The worker lock to claim under. 0: the strategy needs none. Undefined: the worker has no lock at the moment. */
  readonly lockId: () => number | undefined;
  /** Lets the group of the job, or without one its queue, rest in all processes. Never rejects. */
  readonly rest: (job: Pick<ClaimedJob, 'queue' | 'group'>, rest: Delay) => Promise<void>;
  readonly expectDue: (ms: number) => void;
  /** Called when a slot of the process is free for the next job of any queue. */
  readonly onSlotFree: () => void;
  /** Called when the queue, or a part of it, has become idle. */
  readonly onIdle: () => void;
}
