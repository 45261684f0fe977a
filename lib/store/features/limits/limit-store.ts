import type { LimitChange, Limits } from '../../../job/limits/limit-options.js';
import type { Delay } from '../../../job/snooze.js';
import type { Change } from '../audit/audit-store.js';

/** Stores the limits of queues, which hold for all processes. Every verb is atomic and may be repeated. */
export interface LimitStore {
  /**
   * Stores the limits from the options of a process. The latest declaration holds. Returns the queues for which another
   * process had declared other limits.
   */
  declareLimits(limits: ReadonlyMap<string, Limits>): Promise<string[]>;

  /** Sets limits that hold instead of those from the options. Null: the limits are as in the options again. */
  setLimits(queue: string, limits: LimitChange | null, change?: Change): Promise<void>;

  /** No job of the queue starts until then. An earlier end than that of the present rest changes nothing. */
  rest(queue: string, rest: Delay): Promise<void>;
}
