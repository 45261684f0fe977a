import type { ClaimedJob } from '../../job/job.js';
import type { Clock } from '../../time/clock.js';

// Ids are given out before their transactions commit, so a smaller one can appear behind the bound at any time.
const LOOK_EVERY_MS = 1_000;
// Looks behind the bounds may use up a fiftieth of the time.
const LOOK_SHARE = 50;
// But not for ever: how long one took says as much of a busy event loop, or of a connection that was lost, as of the database.
const LONGEST_PAUSE_MS = 10_000;

// With more priorities in use at once the ranges cost more than they save.
const MOST_PRIORITIES = 4;

/** The last place of one priority that was claimed. */
export interface Bound {
  readonly priority: number;
  readonly lastId: number;
}

/** Where a claim begins, and how far it has got. */
export interface ClaimStart {
  /** In the order of priorities; none: at the head. Behind what other claims of this process are about to take. */
  readonly bounds: readonly Bound[];
  /** The same without those: whether they keep what they have locked is not known yet. */
  readonly committed: readonly Bound[];
  /** The last places locked by this one, for each priority. */
  readonly reached: Map<number, number>;
  /** How long ago a claim has looked behind the bounds. */
  readonly lookedAgoMs: number;
  /** What was known then. Where it has been forgotten since, nothing follows from the claim. */
  readonly known: Known;
}

export interface Known {
  readonly lastIds: Map<number, number>;
  /** Claims that have neither committed nor failed. */
  readonly underWay: Set<ClaimStart>;
  /** When the last look beside the claims was. */
  lookedAt: number;
  /** How long it took. */
  tookMs: number;
  /** When a claim last looked itself. */
  claimLookedAt: number;
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

  /** Ask when the scan is about to begin, and end it with `over`. */
  of(queue: string): ClaimStart {
    let known = this.#queues.get(queue);
    if (!known) {
      const now = this.clock.monotonic();
      known = {
        lastIds: new Map(),
        underWay: new Set(),
        lookedAt: now,
        tookMs: 0,
        claimLookedAt: -Infinity,
        spread: 1,
      };
      this.#queues.set(queue, known);
    }
    const committed = known.lastIds.size > MOST_PRIORITIES ? [] : inOrder(known);
    const lookedAgoMs = this.clock.monotonic() - known.claimLookedAt;
    const start = {
      known,
      bounds: beyond(committed, known),
      committed,
      lookedAgoMs,
      reached: new Map<number, number>(),
    };
    known.underWay.add(start);
    return start;
  }

  /** These have been claimed from there; `isShort`: fewer than were asked for. */
  note(start: ClaimStart, jobs: readonly ClaimedJob[], isShort: boolean): void {
    const { known, bounds } = start;
    if (isShort && bounds.length > 0 && mayLook(start, jobs.length)) known.claimLookedAt = this.clock.monotonic();
    noteLast(known.lastIds, jobs);
  }

  /** The claim has committed, or failed: then what it had locked is for whoever comes next. */
  over(start: ClaimStart): void {
    start.known.underWay.delete(start);
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

/**
 * Whether a claim that has found so many jobs, fewer than it wanted, looks behind the bounds. One that found none was told of
 * some for the most part: others have brought them back, whose claims are not bound by what this process knows.
 */
export function mayLook({ known, lookedAgoMs }: ClaimStart, found: number): boolean {
  return lookedAgoMs >= (found === 0 ? sharePauseMs(known) : lookPauseMs(known));
}

/** Notes the last of these for each priority. */
export function noteLast(lastIds: Map<number, number>, jobs: Iterable<{ id: number; priority: number }>): void {
  for (const { id, priority } of jobs) lastIds.set(priority, Math.max(id, lastIds.get(priority) ?? 0));
}

/** Two claims of a process are under way at a time: a scan over what the other one has locked costs as much as its own. */
function beyond(committed: readonly Bound[], { underWay }: Known): Bound[] {
  return committed.map(({ priority, lastId }) => {
    const reached = Array.from(underWay, (start) => start.reached.get(priority) ?? 0);
    return { priority, lastId: Math.max(lastId, ...reached) };
  });
}

function lookPauseMs(known: Known): number {
  return Math.max(LOOK_EVERY_MS, sharePauseMs(known));
}

function sharePauseMs({ tookMs }: Known): number {
  return Math.min(LONGEST_PAUSE_MS, tookMs * LOOK_SHARE);
}

function inOrder({ lastIds }: Known): Bound[] {
  return [...lastIds].map(([priority, lastId]) => ({ priority, lastId })).sort((a, b) => a.priority - b.priority);
}
