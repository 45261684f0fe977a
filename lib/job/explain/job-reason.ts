import type { FinalState, JobState } from '../job-state.js';
import type { EnabledTimes } from '../settings/enabled.js';
import type { StoredError } from '../stored-error.js';

/** The last pause, as far as the audit knows it. */
export interface ChangeOfPause {
  since: Date | null;
  /** The administrator of `QueueAdmin.as`; null: not known. */
  by: string | null;
}

/** A number of jobs, which is counted up to a bound. */
export interface JobCountUpTo {
  jobs: number;
  /** Whether there may be more. */
  atLeast: boolean;
}

/** A job that must end before another one starts. */
export interface NeededJob {
  id: number;
  queue: string;
  name: string;
  /** `removed`: it does not exist any more. */
  state: JobState | 'removed';
}

/** A reason why a job does not run, or the end that it has reached. */
export type JobReason =
  /** Another program has written an invalid value. The claim of the job makes it dead. */
  | { reason: 'malformed'; column: string; problem: string }
  /** No worker has started it within its `expiresIn`. The claim of the job cancels it. */
  | { reason: 'expired'; since: Date }
  /**
   * No worker that was seen within a minute serves the queue. `excludedBy`: the workers whose process has a handler and
   * excludes the queue by `worker.queues`. `here`: what this process has.
   */
  | {
      reason: 'no-worker';
      excludedBy: number;
      here: 'no-handler' | 'excluded' | 'not-running';
      /** A similar name of a queue that a worker serves; null: none. */
      suggestion: string | null;
    }
  /** This process serves the queue, but has no handler for the name of the job, which is not `default`. */
  | { reason: 'no-handler' }
  | ({ reason: 'queue-paused' } & ChangeOfPause)
  | ({ reason: 'group-paused'; group: string } & ChangeOfPause)
  /** The setting `enabled` of `QueueAdmin.configure` lets the queue run no job at this time. */
  | { reason: 'queue-disabled'; enabled: false | EnabledTimes }
  /** Only in this process: `SqlQueueRunner.pause` or the option `paused`, or the function `enabled` of the queue. */
  | { reason: 'paused-here' }
  | { reason: 'disabled-here' }
  | { reason: 'queue-rests'; until: Date }
  | { reason: 'limit-reached'; limit: number; running: number; jobIds: number[] }
  | { reason: 'rate-reached'; limit: number; perMs: number; until: Date }
  | { reason: 'group-rests'; group: string; until: Date }
  /** The jobs of the group that run, or that keep their place in its limit. `limit` is null if this process does not know it. */
  | { reason: 'group-busy'; group: string; limit: number | null; jobIds: number[] }
  | { reason: 'group-rate-reached'; group: string; limit: number; perMs: number; until: Date }
  /** `needs` has up to ten jobs; `more`: there are more. */
  | { reason: 'blocked'; needs: NeededJob[]; more: boolean }
  /** `key` is null if the wait began before an update of the tables. */
  | { reason: 'waits-for-signal'; name: string; key: string | null; until: Date }
  | { reason: 'sleeps'; step: string; until: Date }
  /** Due later. `retry`: after a failed attempt. `snooze`: put off after one that counted. `delay`: neither. */
  | { reason: 'scheduled'; at: Date; cause: 'delay' | 'retry' | 'snooze'; attempt: number }
  /** It is due, and a worker or the claim of a person has yet to make it waiting. */
  | { reason: 'due'; since: Date }
  /** It is in a stage for people, who claim it when it is due: no worker does. */
  | { reason: 'staged'; stage: string }
  /** No worker serves its queue, but people or other programs take its jobs. */
  | { reason: 'for-people' }
  /** The clock of the database decides which jobs are due. Positive: it is ahead of the clock of this process. */
  | { reason: 'clock-differs'; aheadMs: number }
  /**
   * More urgent jobs wait, or earlier ones, with a group those of the group. Counted up to 200. `order` is `lifo` if this
   * process knows that the queue has this order: then later jobs come first.
   */
  | ({ reason: 'behind'; order: 'fifo' | 'lifo' } & JobCountUpTo)
  /** Nothing holds it up. A worker claims it with its next poll. */
  | { reason: 'next' }
  /**
   * A worker has it. `isStarted`: false while it waits in the worker for a free slot. With `lease-expired`, or a `seenAt`
   * more than a minute ago, that worker may be dead.
   */
  | {
      reason: 'running';
      worker: { id: string; host: string; pid: number; seenAt: Date } | { id: string };
      since: Date;
      /** Null: as long as its worker holds its lock, or after a rescue of other jobs of its claim. */
      leaseUntil: Date | null;
      isStarted: boolean;
    }
  | { reason: 'cancel-requested' }
  /**
   * The lease of its claim is over: any running worker rescues the job. `since` is null if a rescue has taken other jobs of
   * the claim. It leaves a job that its own process still runs, or that a transaction has locked.
   */
  | { reason: 'lease-expired'; since: Date | null }
  /** A person or another program has it. `leaseUntil` is null if it is held until it is released. */
  | { reason: 'assigned'; owner: string | null; since: Date; leaseUntil: Date | null; snoozedUntil: Date | null }
  | { reason: 'ended'; state: FinalState; at: Date; error: StoredError | null };

/** The answer of `QueueAdmin.explain`. */
export interface JobExplanation {
  id: number;
  queue: string;
  name: string;
  state: JobState;
  /** Never empty. Several may hold at once; that which needs an action comes first. `text` is one sentence or two. */
  reasons: (JobReason & { text: string })[];
}
