import type { ClaimedJob } from '../../job/job.js';
import type { Clock } from '../../time/clock.js';

// Ids are given out before their transactions commit, so a smaller one can appear behind the bound at any time.
const HEAD_EVERY_MS = 1_000;

// With more priorities in use at once the ranges cost more than they save.
const MOST_PRIORITIES = 4;

/** The last place of one priority that was claimed. */
export interface Bound {
  readonly priority: number;
  readonly lastId: number;
}

/**
 * Where the last claims of each queue ended. At the head of the claim's index lie active jobs and the dead entries of
 * finished ones, which a long transaction elsewhere can keep there by the hundred thousand: a claim that begins behind
 * them costs the same with and without them. The bounds are a guess of this process; what they hide for a moment is
 * found from the head.
 */
export class ClaimBounds {
  readonly #queues = new Map<string, { headAt: number; lastIds: Map<number, number> }>();

  constructor(private readonly clock: Clock) {}

  /** Where to begin, in the order of priorities; nothing: at the head. */
  of(queue: string): Bound[] {
    const known = this.#queues.get(queue);
    if (!known || this.clock.monotonic() - known.headAt > HEAD_EVERY_MS) return [];
    if (known.lastIds.size > MOST_PRIORITIES) return [];
    return [...known.lastIds]
      .map(([priority, lastId]) => ({ priority, lastId }))
      .sort((a, b) => a.priority - b.priority);
  }

  /** A claim that began at these bounds has committed. */
  note(queue: string, bounds: readonly Bound[], jobs: readonly ClaimedJob[]): void {
    const known = bounds.length > 0 ? this.#queues.get(queue) : undefined;
    const { headAt, lastIds } = known ?? { headAt: this.clock.monotonic(), lastIds: new Map<number, number>() };
    for (const { id, priority } of jobs) lastIds.set(priority, Math.max(id, lastIds.get(priority) ?? 0));
    this.#queues.set(queue, { headAt, lastIds });
  }

  /** Jobs have come to stand behind the bounds: back to the head. */
  forget(): void {
    this.#queues.clear();
  }
}
