import type { ClaimedJob } from '../../job/job.js';
import type { Clock } from '../../time/clock.js';

// Ids are given out before their transactions commit, so a smaller one can appear behind the bound at any time.
const LOOK_EVERY_MS = 1_000;
// Looks behind the bounds may use up a fiftieth of the time.
const LOOK_SHARE = 50;

// With more priorities in use at once the ranges cost more than they save.
const MOST_PRIORITIES = 4;

/** The last place of one priority that was claimed. */
export interface Bound {
  readonly priority: number;
  readonly lastId: number;
}

/** Where a claim begins. */
export interface ClaimStart {
  /** In the order of priorities; none: at the head. */
  readonly bounds: readonly Bound[];
  /** Whether to look behind the bounds where too few jobs are found beyond them. */
  readonly mayLook: boolean;
  /** What was known then. Where it has been forgotten since, nothing follows from the claim. */
  readonly known: Known;
}

export interface Known {
  readonly lastIds: Map<number, number>;
  /** When the last look beside the claims was. */
  lookedAt: number;
  /** How long it took. */
  tookMs: number;
  /** From when on a claim may look itself. */
  mayLookAt: number;
  /** From how many times the jobs it wants an optimistic claim chooses. */
  spread: number;
}

/**
 * Where the last claims of each queue ended. At the head of the claim's index lie active jobs and the dead entries of
 * finished ones, which a long transaction elsewhere can keep there by the hundred thousand: a claim that begins behind
 * them costs the same with and without them. The bounds are a guess of this process; what they hide is found by a look
 * behind them, which locks nothing and no claim waits for.
 */
export class ClaimBounds {
  readonly #queues = new Map<string, Known>();

  constructor(private readonly clock: Clock) {}

  of(queue: string): ClaimStart {
    let known = this.#queues.get(queue);
    if (!known) {
      known = { lastIds: new Map(), lookedAt: this.clock.monotonic(), tookMs: 0, mayLookAt: 0, spread: 1 };
      this.#queues.set(queue, known);
    }
    const bounds = known.lastIds.size > MOST_PRIORITIES ? [] : inOrder(known);
    return { known, bounds, mayLook: this.clock.monotonic() >= known.mayLookAt };
  }

  /** These have been claimed from there; `isShort`: fewer than were asked for. */
  note({ known, bounds, mayLook }: ClaimStart, jobs: readonly ClaimedJob[], isShort: boolean): void {
    if (isShort && mayLook && bounds.length > 0) known.mayLookAt = this.clock.monotonic() + lookPauseMs(known);
    for (const { id, priority } of jobs) known.lastIds.set(priority, Math.max(id, known.lastIds.get(priority) ?? 0));
  }

  /** Jobs have come to stand behind the bounds: back to the head. */
  forget(): void {
    this.#queues.clear();
  }

  /** What to look behind, now that it is time. Call `done` with what was found. */
  due(queue: string): { readonly bounds: readonly Bound[]; readonly done: (isBehind: boolean) => void } | undefined {
    const known = this.#queues.get(queue);
    const now = this.clock.monotonic();
    if (!known || known.lastIds.size === 0 || known.lastIds.size > MOST_PRIORITIES) return undefined;
    if (now < known.lookedAt + lookPauseMs(known)) return undefined;
    known.lookedAt = Infinity;
    return {
      bounds: inOrder(known),
      done: (isBehind) => {
        known.lookedAt = this.clock.monotonic();
        known.tookMs = known.lookedAt - now;
        if (isBehind && this.#queues.get(queue) === known) this.#queues.delete(queue);
      },
    };
  }
}

function lookPauseMs({ tookMs }: Known): number {
  return Math.max(LOOK_EVERY_MS, tookMs * LOOK_SHARE);
}

function inOrder({ lastIds }: Known): Bound[] {
  return [...lastIds].map(([priority, lastId]) => ({ priority, lastId })).sort((a, b) => a.priority - b.priority);
}
