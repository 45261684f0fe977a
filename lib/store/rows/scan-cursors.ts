import type { ClaimedJob } from '../../job/job.js';
import type { Clock } from '../../common/clock.js';

// The server assigns ids before transactions commit, so a job with a smaller id can appear before the cursor at any
// time.
const CHECK_INTERVAL_MS = 1_000;
// Missed-work checks may take one fiftieth of the time.
const CHECK_TIME_SHARE = 50;
// The measured time may include a busy event loop or a lost connection, so the pause has a limit.
const MAX_CHECK_PAUSE_MS = 10_000;

// With more priorities in use the ranges cost more than they save.
const MAX_PRIORITIES = 4;

/** The position of a job. A scan cursor is the last claimed position of one priority. */
export interface QueuePosition {
  readonly priority: number;
  readonly id: number;
}

/** The start of a claim, and the progress of its scan. */
export interface ScanStart {
  /** In the order of priorities, past the jobs that other running claims have locked. Empty: the head of the queue. */
  readonly cursors: readonly QueuePosition[];
  /** The cursors of committed claims only, because a running claim may still fail. */
  readonly committedCursors: readonly QueuePosition[];
  /** The last id that this claim has locked, for each priority. */
  readonly reached: Map<number, number>;
  /** Milliseconds since a claim made a missed-work check. */
  readonly checkedAgoMs: number;
  /** The state at the start. If it was reset since, the claim changes nothing. */
  readonly state: QueueScanState;
}

class QueueScanState {
  readonly lastIds = new Map<number, number>();
  /** Claims that have neither committed nor failed. */
  readonly running = new Set<ScanStart>();
  checkTookMs = 0;
  /** When a claim last made a missed-work check. */
  claimCheckedAt = -Infinity;

  /** @param checkedAt when the last missed-work check outside of a claim ended */
  constructor(public checkedAt: number) {}
}

/**
 * The positions at which the last claims of each queue ended. The head of index queue contains active jobs and deleted
 * entries of finished ones, which a long transaction can keep there by the hundred thousand. A claim that starts after
 * them costs the same with and without them. Each process has its own cursors. Missed-work checks find waiting jobs
 * before them; these checks lock nothing, and no claim waits for them.
 */
export class ScanCursors {
  readonly #queues = new Map<string, QueueScanState>();

  constructor(private readonly clock: Clock) {}

  /** Returns the start of a scan. The caller calls `end` when the claim has committed or failed. */
  begin(queue: string): ScanStart {
    let known = this.#queues.get(queue);
    if (!known) this.#queues.set(queue, (known = new QueueScanState(this.clock.monotonic())));
    const committed = known.lastIds.size > MAX_PRIORITIES ? [] : committedCursorsOf(known);
    const start = {
      state: known,
      cursors: pastRunningScans(committed, known),
      committedCursors: committed,
      checkedAgoMs: this.clock.monotonic() - known.claimCheckedAt,
      reached: new Map<number, number>(),
    };
    known.running.add(start);
    return start;
  }

  /** @param isShort the claim found fewer jobs than requested */
  advance(start: ScanStart, jobs: readonly ClaimedJob[], isShort: boolean): void {
    const { state, cursors } = start;
    if (isShort && cursors.length > 0 && mayCheckForMissedWork(start, jobs.length))
      state.claimCheckedAt = this.clock.monotonic();
    advanceLastIds(state.lastIds, jobs);
  }

  end(start: ScanStart): void {
    start.state.running.delete(start);
  }

  /** Moves all cursors to the head, because jobs may wait before them. */
  reset(): void {
    this.#queues.clear();
  }

  /** The cursors for a missed-work check if one is due. The caller reports its result to `done`. */
  startDueCheck(queue: string) {
    const known = this.#queues.get(queue);
    const now = this.clock.monotonic();
    if (!known || known.lastIds.size === 0 || known.lastIds.size > MAX_PRIORITIES) return undefined;
    if (now < known.checkedAt + checkPauseMs(known)) return undefined;
    known.checkedAt = Infinity;
    return {
      bounds: committedCursorsOf(known),
      done: (hasMissedWork: boolean) => {
        known.checkedAt = this.clock.monotonic();
        known.checkTookMs = known.checkedAt - now;
        if (hasMissedWork && this.#queues.get(queue) === known) this.#queues.delete(queue);
      },
    };
  }
}

/**
 * Whether a claim that found fewer jobs than requested makes a missed-work check. A claim that found none makes it
 * earlier: mostly a notification or a poll announced jobs, which other processes have returned to the queue.
 */
export function mayCheckForMissedWork({ state, checkedAgoMs }: ScanStart, found: number): boolean {
  return checkedAgoMs >= (found === 0 ? timeSharePauseMs(state) : checkPauseMs(state));
}

export function advanceLastIds(lastIds: Map<number, number>, jobs: Iterable<QueuePosition>): void {
  for (const { id, priority } of jobs) lastIds.set(priority, Math.max(id, lastIds.get(priority) ?? 0));
}

/** A scan over the locked jobs of running claims would cost as much as a claim of its own. */
function pastRunningScans(committed: readonly QueuePosition[], { running }: QueueScanState): QueuePosition[] {
  return committed.map(({ priority, id }) => {
    const reached = Array.from(running, (start) => start.reached.get(priority) ?? 0);
    return { priority, id: Math.max(id, ...reached) };
  });
}

function checkPauseMs(known: QueueScanState): number {
  return Math.max(CHECK_INTERVAL_MS, timeSharePauseMs(known));
}

function timeSharePauseMs({ checkTookMs }: QueueScanState): number {
  return Math.min(MAX_CHECK_PAUSE_MS, checkTookMs * CHECK_TIME_SHARE);
}

function committedCursorsOf({ lastIds }: QueueScanState): QueuePosition[] {
  return [...lastIds].map(([priority, id]) => ({ priority, id })).sort((a, b) => a.priority - b.priority);
}
