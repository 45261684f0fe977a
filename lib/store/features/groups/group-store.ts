import type { GroupLimitChange } from '../../../job/groups/group-options.js';
import type { Delay } from '../../../job/snooze.js';
import type { Change } from '../audit/audit-store.js';

/**
 * `ready`: jobs wait, and the group takes part in the turns. `blocked`: it has reached a limit, or it rests. `idle`: no job
 * waits.
 */
export type GroupStatus = 'idle' | 'ready' | 'blocked' | 'paused';

/** A group, as QueueAdmin lists it. A group without jobs for an hour, and without limits of its own, is in no list. */
export interface GroupRecord {
  queue: string;
  group: string;
  state: GroupStatus;
  /** The limit of active jobs that `limit` has set for this group; null: none; undefined: as in the options of the queue. */
  concurrency?: number | null;
  /** The rate that `limit` has set for this group; null: none; undefined: as in the options of the queue. */
  rate?: { limit: number; perMs: number; burst: number; window: 'sliding' | 'fixed' } | null;
  weight: number;
  /** No job starts before this time; null: the group does not rest. */
  restsUntil: Date | null;
  /** Only if the page was asked for counts. `waiting` is counted up to 1,000. */
  counts?: GroupCounts;
}

/** The jobs of one group that are not finished. */
export interface GroupCounts {
  waiting: number;
  scheduled: number;
  /** With prefetched and assigned jobs. */
  active: number;
}

/** Bounds of counts, so that the cost of a page does not depend on the number of jobs. */
export interface MaxGroupCounts {
  /** Counted per group. */
  readonly waiting: number;
  /** Examined in the whole queue. */
  readonly scheduled: number;
}

export interface GroupSearch {
  readonly queue: string;
  readonly state?: GroupStatus | undefined;
  /** The name of the last group of the page before. */
  readonly after: string;
  readonly limit: number;
}

/** Reads and changes groups in all processes. Every verb is atomic and may be repeated. */
export interface GroupStore {
  /** In the order of the names. */
  list(search: GroupSearch): Promise<GroupRecord[]>;

  /** In the order of the groups. */
  counts(queue: string, groups: readonly string[], most?: MaxGroupCounts): Promise<GroupCounts[]>;

  /** No job of a paused group starts. Running jobs continue. */
  setPaused(queue: string, group: string, paused: boolean, change?: Change): Promise<void>;

  /** Null: the limits are as in the options of the queue again, and the weight is 1. */
  setLimits(queue: string, group: string, limits: GroupLimitChange | null, change?: Change): Promise<void>;

  /** No job of the group starts until then. Null: the rest ends. */
  rest(queue: string, group: string, rest: Delay | null, change?: Change): Promise<void>;

  /**
   * Makes a group claimable in which a job has ended, after the transaction of the caller in which it did. Never rejects,
   * because claims examine a group anew after seconds.
   */
  wake(queue: string, group: string): Promise<void>;

  /** Deletes at most `limit` groups that were idle for an hour and have no limits of their own. Returns their number. */
  prune(limit: number): Promise<number>;
}
