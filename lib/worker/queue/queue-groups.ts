import { callAfter, type Clock } from '../../common/clock.js';
import { DEFAULT_GROUP_RULES, type GroupRules } from '../../job/groups/group-options.js';

/** The groups of one queue in this process: their rules, and the earliest time at which they may have more jobs. */
export class QueueGroups {
  /** Undefined: the queue has no groups. */
  rules: GroupRules | undefined;
  #timer: AbortController | undefined;
  #dueAt = Infinity;

  constructor(
    rules: GroupRules | null,
    private readonly clock: Clock,
    private readonly wake: () => void,
  ) {
    this.rules = rules ?? undefined;
  }

  /** The database has groups of the queue, although this process has no options for them. */
  discover(): void {
    this.rules ??= DEFAULT_GROUP_RULES;
  }

  wakeIn(ms: number): void {
    const dueAt = this.clock.monotonic() + ms;
    if (dueAt >= this.#dueAt) return;
    this.cancel();
    this.#dueAt = dueAt;
    this.#timer = callAfter(this.clock, ms, () => {
      this.cancel();
      this.wake();
    });
  }

  cancel(): void {
    this.#timer?.abort();
    this.#timer = undefined;
    this.#dueAt = Infinity;
  }
}
