import type { Clock } from '../../common/clock.js';
import { groupBy } from '../../common/lists.js';
import type { ClaimedJob } from '../../job/job.js';
import type { Work } from '../core/statement.js';
import type {
  ClaimDatabase,
  ClaimRequest,
  CursorReads,
  QueuePosition,
  ReturnedJob,
  ScanCursor,
  ScanStart,
} from '../rows/claim.js';

// The server assigns ids before transactions commit, so a job with a smaller id can appear before the cursor at any
// time.
const CHECK_INTERVAL_MS = 1_000;
// Missed-work checks may take one fiftieth of the time.
const CHECK_TIME_SHARE = 50;
// After checks of at most this time, a claim that finds no job makes the next one at once.
const QUICK_CHECK_MS = 20;
// The measured time may include a busy process or a lost connection, so the pause has a limit.
const MAX_CHECK_PAUSE_MS = 10_000;
// Each costs a poll a statement. On a busy machine, all queues seem slow.
const MAX_SLOW_QUEUES = 10;

// With more priorities in use the ranges cost more than they save.
const MAX_PRIORITIES = 4;

const START: QueuePosition = { priority: -Infinity, id: -Infinity };
const UNKNOWN: QueuePosition = { priority: Infinity, id: Infinity };

/**
 * The positions at which the last claims of each queue ended. The head of index queue contains active jobs and deleted
 * entries of finished ones, which a long transaction can keep there by the hundred thousand. A claim that starts after
 * them costs the same with and without them. Each process has its own cursors. Once it has reached the last job that any
 * process has claimed, its claims start after that one, until jobs return to the queue. Missed-work checks find waiting
 * jobs before. They lock nothing, and no transaction waits for one.
 */
export class ScanCursors {
  readonly #queues = new Map<string, QueueScanState>();
  /** Those that follow claims, by queue. Each resolves with whether a job may wait before the cursors. */
  readonly #missedWorkChecks = new Map<string, Promise<boolean>>();

  constructor(private readonly clock: Clock) {}

  /** The caller calls `end` when the claim has committed or failed. */
  begin(queue: string): Scan {
    let known = this.#queues.get(queue);
    if (!known) this.#queues.set(queue, (known = new QueueScanState(this.clock.monotonic())));
    const scan = new Scan(known);
    known.running.add(scan);
    return scan;
  }

  advance(scan: Scan, jobs: readonly ClaimedJob[], reads: CursorReads): void {
    const { state } = scan;
    state.reads = reads;
    advanceLastIds(state.lastIds, jobs);
    if (state.idsAtCheck.size === 0) state.idsAtCheck = new Map(state.lastIds);
    scan.commit();
  }

  end(scan: Scan): void {
    scan.state.running.delete(scan);
    scan.rollback();
  }

  /**
   * Moves the cursors before jobs that have returned to their queues. The cursor of another priority stays: a claim finds a
   * more urgent job before the cursors by itself.
   */
  moveBefore(returned: readonly ReturnedJob[]): void {
    for (const [queue, jobs] of groupBy(returned, (job) => job.queue)) {
      const known = this.#queues.get(queue);
      if (!known) continue;
      // A new state, because running claims advance the cursors of theirs.
      const moved = new QueueScanState(known.checkedAt);
      moved.reads = known.reads;
      moved.checkTimes = known.checkTimes;
      moved.idsAtCheck = known.idsAtCheck;
      for (const [priority, id] of known.lastIds) moved.lastIds.set(priority, id);
      moved.passesClaimedFrom = known.passesClaimedFrom;
      for (const { priority, id } of jobs) {
        moved.returnTo({ priority, id });
        const last = moved.lastIds.get(priority);
        if (last !== undefined) moved.lastIds.set(priority, Math.min(last, id - 1));
      }
      this.#queues.set(queue, moved);
    }
  }

  /** More jobs may wait after the missed one, up to the last position that other processes have claimed. */
  #moveBeforeMissed(queue: string, missed: QueuePosition): void {
    this.moveBefore([{ ...missed, queue }]);
    const moved = this.#queues.get(queue)!;
    // Its priority may have no cursor yet.
    moved.lastIds.set(missed.priority, Math.min(moved.lastIds.get(missed.priority) ?? Infinity, missed.id - 1));
    moved.passesClaimedFrom = UNKNOWN;
  }

  /**
   * At most ten queues whose active and finished jobs take long to read past. A poll calls `findWork` for each, instead of
   * such a read.
   */
  slowQueues(queues: readonly string[]): string[] {
    return queues.filter((queue) => this.#queues.get(queue)?.isSlow).slice(0, MAX_SLOW_QUEUES);
  }

  /** Whether a job waits after the cursors, or before them if a missed-work check is due. */
  *findWork(queue: string): Work<boolean> {
    const known = this.#queues.get(queue);
    if (!known?.reads || (yield* known.reads.hasWorkAfter(queue, known.cursors))) return true;
    const due = this.#startDueCheck(queue, true);
    if (!due) return false;
    try {
      return due.done(yield* known.reads.findWorkBefore(queue, due.bounds));
    } catch (error) {
      due.fail();
      throw error;
    }
  }

  /**
   * Starts a missed-work check after a claim if one is due: after its transaction, whose locks other processes await.
   *
   * @param foundNone the claim has found no waiting job
   */
  checkMissedWork(
    { queue, onMissedWork }: ClaimRequest,
    foundNone: boolean,
    reads: CursorReads,
    database: Pick<ClaimDatabase, 'runIdempotent'>,
  ): void {
    const due = this.#startDueCheck(queue, foundNone, foundNone && !onMissedWork);
    if (!due) return;
    const check = database
      .runIdempotent(() => reads.findWorkBefore(queue, due.bounds))
      .then(due.done, due.fail)
      .then((mayHaveMissed) => {
        if (mayHaveMissed) onMissedWork?.();
        return mayHaveMissed;
      })
      .finally(() => {
        if (this.#missedWorkChecks.get(queue) === check) this.#missedWorkChecks.delete(queue);
      });
    this.#missedWorkChecks.set(queue, check);
  }

  /** The result of the check that `checkMissedWork` has started: whether a claim may find a job now. */
  missedWorkCheck(queue: string): Promise<boolean> | undefined {
    return this.#missedWorkChecks.get(queue);
  }

  /** Resolves when no missed-work check runs. */
  async idle(): Promise<void> {
    await Promise.all(this.#missedWorkChecks.values());
  }

  /**
   * The cursors for a missed-work check if one is due. The caller reports its result to `done`, which returns whether a
   * claim may find a job now.
   *
   * @param foundNone the claim has found no waiting job: mostly others have returned one
   * @param isAwaited the caller gets a check at any time
   */
  #startDueCheck(queue: string, foundNone: boolean, isAwaited = false) {
    const known = this.#queues.get(queue);
    const now = this.clock.monotonic();
    if (!known?.hasCursors) return undefined;
    const pauseMs = isAwaited ? 0 : known.checkPauseMs(foundNone);
    // Without a pause also beside another check, which may have read before the job returned.
    if (pauseMs > 0 && now < known.checkedAt + pauseMs) return undefined;
    known.checkedAt = Infinity;
    return {
      bounds: known.boundsOfCheck(foundNone),
      done: (missed: QueuePosition | undefined) => {
        const current = this.#queues.get(queue);
        if (!current) return true;
        current.checkedAt = this.clock.monotonic();
        current.checkTimes = [current.checkedAt - now, current.checkTimes[0]];
        if (missed) this.#moveBeforeMissed(queue, missed);
        // Jobs that have returned meanwhile have replaced the state, and the check may have read before.
        return missed !== undefined || current !== known;
      },
      // The next claim starts at the head of the queue.
      fail: () => this.#queues.delete(queue),
    };
  }
}

/** The scan cursors of one queue: the last claimed id of each priority. */
class QueueScanState {
  readonly lastIds = new Map<number, number>();
  /**
   * Jobs may wait before this position. A claim that reaches it has taken them: from then on, claims start after the last
   * job that any process has claimed.
   */
  passesClaimedFrom = UNKNOWN;
  /** Claims that have neither committed nor failed. */
  readonly running = new Set<Scan>();
  /** In milliseconds, of the last two checks: a busy process makes one seem slow. */
  checkTimes: readonly [number, number] = [0, 0];
  /** The last ids when the last check began; before that, those of the first claim. */
  idsAtCheck: ReadonlyMap<number, number> = new Map();
  /** Undefined before the first claim. */
  reads: CursorReads | undefined;

  /** @param checkedAt when the last missed-work check ended; Infinity while one runs */
  constructor(public checkedAt: number) {}

  get hasCursors(): boolean {
    return this.lastIds.size > 0 && this.lastIds.size <= MAX_PRIORITIES;
  }

  get cursors(): ScanCursor[] {
    return cursorsOf(this.lastIds, this.passesClaimedFrom === START);
  }

  get isSlow(): boolean {
    return this.hasCursors && Math.min(...this.checkTimes) > QUICK_CHECK_MS;
  }

  checkPauseMs(foundNone: boolean): number {
    if (foundNone && !this.isSlow) return 0;
    return Math.min(MAX_CHECK_PAUSE_MS, Math.max(CHECK_INTERVAL_MS, Math.min(...this.checkTimes) * CHECK_TIME_SHARE));
  }

  /** A job waits there again. */
  returnTo(position: QueuePosition): void {
    if (byPosition(this.passesClaimedFrom, position) < 0) this.passesClaimedFrom = position;
  }

  /**
   * The cursors of a missed-work check: those of the claim if it has found no job, else those at the check before. A claim
   * of another process may still be taking jobs between those and the present ones.
   */
  boundsOfCheck(foundNone: boolean): ScanCursor[] {
    const earlier = this.idsAtCheck;
    this.idsAtCheck = new Map(this.lastIds);
    if (foundNone) return this.cursors;
    const idOf = ({ priority, id }: QueuePosition) => Math.min(id, earlier.get(priority) ?? 0);
    return cursorsOf(this.lastIds, false).map((cursor) => ({ ...cursor, id: idOf(cursor) }));
  }
}

/** The start of a claim, and the progress of its scan. */
export class Scan implements ScanStart {
  readonly cursors: readonly ScanCursor[];
  #hasCommitted = false;
  #lastClaimed: QueuePosition | undefined;
  /** Whether the claim has read its queue, and found no waiting job that it could lock. */
  foundNone = false;
  /** The last id that this claim has locked, for each priority. */
  readonly #reached = new Map<number, number>();

  /** @param state if it was replaced since, the claim advances no cursor that is still used */
  constructor(readonly state: QueueScanState) {
    // A scan over the locked jobs of running claims would cost as much as a claim of its own.
    const lastIds = new Map(state.lastIds);
    for (const running of state.running) advanceLastIds(lastIds, positionsOf(running.#reached));
    this.cursors = cursorsOf(lastIds, state.passesClaimedFrom === START);
  }

  reach(jobs: readonly QueuePosition[]): void {
    this.foundNone = jobs.length === 0;
    advanceLastIds(this.#reached, jobs);
  }

  get needsLastClaimed(): boolean {
    return this.state.passesClaimedFrom === UNKNOWN;
  }

  foundLastClaimed(position = START): void {
    this.#lastClaimed = position;
  }

  commit(): void {
    this.#hasCommitted = true;
    const { state } = this;
    const reached = this.#lastReached();
    if (this.needsLastClaimed && this.#lastClaimed) state.passesClaimedFrom = this.#lastClaimed;
    if (reached && byPosition(reached, state.passesClaimedFrom) >= 0) state.passesClaimedFrom = START;
  }

  /** Its jobs wait again, and a claim of another process may have passed them. */
  rollback(): void {
    const reached = this.#lastReached();
    if (reached && !this.#hasCommitted) this.state.returnTo(reached);
  }

  #lastReached(): QueuePosition | undefined {
    return positionsOf(this.#reached).sort(byPosition).at(-1);
  }
}

function advanceLastIds(lastIds: Map<number, number>, jobs: Iterable<QueuePosition>): void {
  for (const { id, priority } of jobs) lastIds.set(priority, Math.max(id, lastIds.get(priority) ?? 0));
}

/** In the order of priorities. None if more priorities are in use than pay. */
function cursorsOf(lastIds: ReadonlyMap<number, number>, passesClaimed: boolean): ScanCursor[] {
  if (lastIds.size > MAX_PRIORITIES) return [];
  return positionsOf(lastIds)
    .sort(byPosition)
    .map((position) => ({ ...position, passesClaimed }));
}

function byPosition(a: QueuePosition, b: QueuePosition): number {
  return a.priority - b.priority || a.id - b.id;
}

function positionsOf(lastIds: ReadonlyMap<number, number>): QueuePosition[] {
  return Array.from(lastIds, ([priority, id]) => ({ priority, id }));
}
