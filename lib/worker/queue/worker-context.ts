import type { ClaimedJob } from '../../job/job.js';
import type { Delay } from '../../job/snooze.js';
import type { Completer } from '../complete/completer.js';
import type { LeaseRenewer } from '../heartbeat/lease-renewer.js';
import type { JobLogWriter } from '../run/job-log-writer.js';
import type { WorkerParts } from '../worker-parts.js';
import type { OwnClaims } from './active-claim.js';
import type { Slots } from './plan.js';

/** A worker as its queues see it: its surroundings, and what its queues share. */
export interface WorkerContext extends WorkerParts {
  readonly workerId: string;
  readonly slots: Slots;
  readonly completer: Completer;
  readonly ownClaims: OwnClaims;
  readonly leases: LeaseRenewer;
  readonly jobLogWriter: JobLogWriter;
  /** The lock for claims by `lock`. `id` is undefined while the worker has none. */
  readonly lock: { readonly id: number | undefined };
  readonly queues: {
    /** Lets the group of the job, or without one its queue, rest in all processes. Never rejects. */
    rest(job: Pick<ClaimedJob, 'queue' | 'group'>, rest: Delay): Promise<void>;
    /** The queue has freed a slot of the process. */
    onSlotFree(queue: string): void;
    /** The queue, or a part of it, has become idle. */
    onIdle(queue: string): void;
  };
  /** The worker polls no later than in `ms`. */
  readonly expectDue: (queue: string, ms: number) => void;
  /** Called if a queue has further waiting jobs: one waits again, or a dead letter or a child of a job is new. */
  readonly announce: (queue: string, jobs: number) => void;
}
