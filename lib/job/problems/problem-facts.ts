import type { ChangeOfPause } from '../explain/job-reason.js';
import type { Histogram } from '../histogram.js';
import type { QueueSettingsRecord } from '../settings/queue-configuration.js';

/** What the database knows about the queues and their workers. Times are those of the database. */
export interface ProblemFacts extends SuspectFacts {
  /** The shared statistics. */
  readonly queues: readonly QueueFacts[];
}

/** A queue in the shared statistics. */
export interface QueueFacts {
  readonly queue: string;
  readonly paused: boolean;
  readonly settings: Pick<QueueSettingsRecord, 'enabled'>;
  readonly waiting: { readonly value: number; readonly atLeast: boolean };
  readonly oldestWaitingMs: number | null;
  readonly workers: number;
  readonly sampledAt: Date;
}

/** The queues of the statistics about which the rules need further facts. */
export interface SuspectQueues {
  /** Jobs wait, and no worker that was seen within a minute serves the queue. */
  readonly unserved: readonly string[];
  readonly paused: readonly string[];
  /** They are not paused, and have `enabled: false`. */
  readonly disabled: readonly string[];
  /** The oldest job waits for too long. */
  readonly behind: readonly string[];
}

/** The facts beside the statistics. */
export interface SuspectFacts {
  readonly nowMs: number;
  /** The unserved queues from which people or other programs take the jobs. */
  readonly consumed: ReadonlySet<string>;
  /** The last pauses, and those changes that gave a disabled queue `enabled: false`. */
  readonly pauses: ReadonlyMap<string, ChangeOfPause>;
  /** The groups that start no job, of queues that are behind. */
  readonly groups: ReadonlyMap<string, GroupsAtRest>;
  /** The attempts of the last hour, per minute and in any order. Only of suspects, and of queues with failed attempts. */
  readonly minutes: ReadonlyMap<string, readonly MinuteFacts[]>;
  readonly lapsedClaims: readonly LapsedClaims[];
  readonly silentWorkers: readonly SilentWorker[];
  readonly lateSchedules: readonly LateSchedules[];
}

export interface GroupsAtRest {
  readonly blocked: AlikeGroups;
  readonly paused: AlikeGroups;
}

export interface AlikeGroups {
  readonly count: number;
  /** The first of their keys; null: there is none. */
  readonly first: string | null;
}

/** The attempts that ended within a minute, or a part of them. */
export interface MinuteFacts {
  readonly startsAtMs: number;
  readonly completed: number;
  readonly failed: number;
  readonly dead: number;
  readonly waits: Histogram;
}

export interface LapsedClaims {
  readonly queue: string;
  readonly claims: number;
  readonly lapsedMs: number;
}

export interface SilentWorker {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly seenAtMs: number;
}

/** The schedules of a queue with ticks that no process has run. */
export interface LateSchedules {
  readonly queue: string;
  readonly count: number;
  /** Those of `QueueSchedules`, whose ticks every worker runs. Workers run only those from code that they declare. */
  readonly fromApi: number;
  readonly firstName: string;
  /** The oldest of these ticks. */
  readonly dueAtMs: number;
}
