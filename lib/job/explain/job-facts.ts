import type { GroupOverrides } from '../groups/group-options.js';
import type { JobState } from '../job-state.js';
import type { Limits } from '../limits/limit-options.js';
import type { RateUse } from '../limits/rate.js';
import { PROBLEM_LIMITS } from '../problems/queue-problem.js';
import type { ColumnProblem } from '../read-columns.js';
import type { EnabledTimes } from '../settings/enabled.js';
import type { ChangeOfPause, JobCountUpTo, NeededJob } from './job-reason.js';

/** What the database knows about a job and its surroundings. Times are those of the database. */
export interface JobFacts {
  readonly nowMs: number;
  readonly job: {
    readonly id: number;
    readonly queue: string;
    readonly name: string;
    readonly state: JobState;
    readonly attempt: number;
    /** Null without a group. */
    readonly group: string | null;
    /** Whether its last run has failed. */
    readonly hasFailedLast: boolean;
    readonly runAtMs: number | null;
    /** Null without `expiresIn`, or if a worker has started the job once. */
    readonly expiresAtMs: number | null;
    readonly finishedAtMs: number | null;
    readonly malformed: ColumnProblem | undefined;
  };
  /** Undefined if no claim has the job. */
  readonly claim: ClaimFacts | undefined;
  /** Undefined if the job is active or finished. */
  readonly surroundings: Surroundings | undefined;
}

/** The option `order` of a queue in this process. The database does not know it. */
export type OrderOf = (queue: string) => 'fifo' | 'lifo';

type Lease = Pick<ClaimFacts, 'leaseUntilMs' | 'isRescued'>;

export function isLeaseExpired({ leaseUntilMs, isRescued }: Lease, nowMs: number): boolean {
  return isRescued || (leaseUntilMs !== null && leaseUntilMs <= nowMs);
}

type Holder = Pick<ClaimFacts, 'owner' | 'worker'> & Lease;

/** Whether a worker has the job, or has handed it off, and shows no sign of life. */
export function isHolderLost(holder: Holder, nowMs: number): boolean {
  const { owner, worker } = holder;
  const isExpired = isLeaseExpired(holder, nowMs);
  // The process of a person has no row of a worker. The next claim of a person takes the job.
  if (owner !== null) return isExpired && worker !== null;
  return isExpired || (worker !== null && isSilent(worker.seenAtMs, nowMs));
}

export function isSilent(seenAtMs: number, nowMs: number): boolean {
  return seenAtMs < nowMs - PROBLEM_LIMITS.silentMs;
}

export interface ClaimFacts {
  readonly workerId: string;
  /** Null if the row of the worker is gone. */
  readonly worker: { readonly host: string; readonly pid: number; readonly seenAtMs: number } | null;
  /** Null for a worker; '' for the bearer of a token. */
  readonly owner: string | null;
  readonly claimedAtMs: number;
  /** Null while a claim that is bound to a lock has a lease, if the owner has the job until it is released, or if `isRescued`. */
  readonly leaseUntilMs: number | null;
  /** Whether a rescue has taken other jobs of the claim. Then its lease has expired, and the time is not known. */
  readonly isRescued: boolean;
  readonly isStarted: boolean;
  readonly isCancelRequested: boolean;
  readonly snoozedUntilMs: number | null;
  /** The workers of its queue, one of which must run the job again. Undefined unless `isHolderLost`. */
  readonly workers: WorkersFacts | undefined;
}

export interface WorkersFacts {
  readonly serving: number;
  readonly excluding: number;
  /** Queues of running workers. Only read if none of them serves the queue. */
  readonly servedQueues: readonly string[];
  /** Whether none of them serves the queue, and people or other programs take its jobs. */
  readonly isConsumed: boolean;
}

export interface Surroundings {
  readonly workers: WorkersFacts;
  /** Undefined: not paused. */
  readonly pause: ChangeOfPause | undefined;
  readonly enabled: boolean | EnabledTimes | undefined;
  /** Undefined: the queue has no limits. */
  readonly limits: LimitFacts | undefined;
  /** Undefined if the job has no group, or its group has no row. */
  readonly group: GroupFacts | undefined;
  /** The wait or the sleep that the job is in. */
  readonly step: { readonly name: string; readonly key: string | null; readonly isWait: boolean } | undefined;
  readonly needs: readonly NeededJob[];
  readonly needsMore: boolean;
  /** The stage in which the job waits for people, or to which it returns when it is due. */
  readonly stage: string | null;
  /** The waiting jobs that come first, and the order of those with the priority of the job. */
  readonly ahead: JobCountUpTo & { readonly order: ReturnType<OrderOf> };
}

export interface LimitFacts extends Limits {
  readonly use: RateUse;
  readonly restUntilMs: number;
  /** The active jobs of the queue. Only read if it has a `maxRunning`. */
  readonly active: readonly number[];
}

export interface GroupFacts {
  readonly isBlocked: boolean;
  readonly pause: ChangeOfPause | undefined;
  readonly overrides: GroupOverrides;
  readonly use: RateUse;
  readonly restUntilMs: number;
  /** The jobs that may count against the limit of the group, with their states. */
  readonly holders: readonly { readonly id: number; readonly state: JobState }[];
}
