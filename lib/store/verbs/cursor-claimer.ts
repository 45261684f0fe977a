import type { Clock } from '../../common/clock.js';
import { groupBy } from '../../common/lists.js';
import { UnsafeJobIdError } from '../../job/errors.js';
import type { ClaimedJob } from '../../job/job.js';
import type { Work } from '../core/statement.js';
import type {
  ClaimRequest,
  ClaimDatabase,
  ClaimImplementation,
  ClaimStrategies,
  QueuePosition,
  ReturnedJob,
  ScanStart,
} from '../rows/claim.js';
import { claimInTurn } from '../features/groups/claim-in-turn.js';
import type { GroupTurns } from '../features/groups/group-turns.js';
import { claimWithinLimits } from '../features/limits/claim-within-limits.js';
import { transactClaim } from '../rows/claimed-row.js';
import { markUnsafeIdsDead } from './malformed-jobs.js';

// The server assigns ids before transactions commit, so a job with a smaller id can appear before the cursor at any
// time.
const CHECK_INTERVAL_MS = 1_000;
// Missed-work checks may take one fiftieth of the time.
const CHECK_TIME_SHARE = 50;
// The measured time may include a busy event loop or a lost connection, so the pause has a limit.
const MAX_CHECK_PAUSE_MS = 10_000;

// With more priorities in use the ranges cost more than they save.
const MAX_PRIORITIES = 4;

/** Claims by the requested strategy, from the scan cursors of this process, and advances them. */
export class CursorClaimer {
  readonly #missedWorkChecks = new Set<Promise<void>>();

  constructor(
    private readonly database: ClaimDatabase,
    private readonly strategies: Pick<ClaimStrategies, 'supported'>,
    private readonly scanCursors: ScanCursors,
    private readonly groupTurns: GroupTurns,
  ) {}

  async claim(request: ClaimRequest): Promise<ClaimedJob[]> {
    if (!request.groups) return this.#claimOnce(request);
    const isFresh = await this.groupTurns.beforeClaim(request);
    const jobs = await this.#claimOnce(request);
    if (jobs.length > 0 || isFresh) return jobs;
    return (await this.groupTurns.afterEmptyClaim(request)) ? this.#claimOnce(request) : jobs;
  }

  #claimOnce(request: ClaimRequest): Promise<ClaimedJob[]> {
    const strategy = this.#strategyOf(request);
    if (strategy.claimAlone && !request.isLimited && !request.groups)
      return strategy.claimAlone(request, withSafeIds(this.database));
    return this.claimWithin(
      request,
      (claim) => transactClaim(request, this.database, claim),
      (jobs) => jobs,
    );
  }

  /** @param transact runs the claim in the caller's transaction, and again if the transaction is repeated */
  async claimWithin<T>(
    request: ClaimRequest,
    transact: (claim: () => Work<ClaimedJob[]>) => Promise<T>,
    jobsOf: (result: T) => readonly ClaimedJob[],
  ): Promise<T> {
    const strategy = this.#strategyOf(request);
    let scan: Scan | undefined;
    const endScan = () => scan && this.scanCursors.end(scan);
    try {
      const result = await withoutUnsafeIds(this.database, () =>
        transact(() => {
          endScan();
          scan = this.scanCursors.begin(request.queue);
          request.onChoosing?.();
          const { groups } = request;
          const claim = (limited: ClaimRequest) =>
            groups
              ? claimInTurn(limited, groups, this.groupTurns.rotationOf(request.queue), strategy.groupLock)
              : strategy.claim(limited, scan!);
          return request.isLimited ? claimWithinLimits(request, claim) : claim(request);
        }),
      );
      const jobs = jobsOf(result);
      this.#advanceCursors(request, strategy, scan!, jobs);
      if (request.groups) this.groupTurns.afterClaim(request, jobs.length);
      return result;
    } finally {
      endScan();
    }
  }

  async idle(): Promise<void> {
    await Promise.all([...this.#missedWorkChecks, this.groupTurns.idle()]);
  }

  #strategyOf({ strategy }: ClaimRequest): ClaimImplementation {
    const implementation = this.strategies.supported[strategy];
    if (!implementation) throw new TypeError(`This database has no strategy ${strategy}.`);
    return implementation;
  }

  #advanceCursors(
    request: ClaimRequest,
    { hasWorkBefore }: ClaimImplementation,
    scan: Scan,
    jobs: readonly ClaimedJob[],
  ): void {
    if (!hasWorkBefore || request.groups) return;
    this.scanCursors.advance(scan, jobs, jobs.length < request.limit);
    const due = this.scanCursors.startDueCheck(request.queue);
    if (!due) return;
    // Claims do not wait for the check. If it fails, the next claim starts at the head of the queue.
    const missedWorkCheck = this.database
      .runIdempotent(() => hasWorkBefore(request.queue, due.bounds))
      .then(due.done, () => due.done(true))
      .finally(() => this.#missedWorkChecks.delete(missedWorkCheck));
    this.#missedWorkChecks.add(missedWorkCheck);
  }
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

  /** The caller calls `end` when the claim has committed or failed. */
  begin(queue: string): Scan {
    const now = this.clock.monotonic();
    let known = this.#queues.get(queue);
    if (!known) this.#queues.set(queue, (known = new QueueScanState(now)));
    const scan = new Scan(known, now);
    known.running.add(scan);
    return scan;
  }

  /** @param isShort the claim found fewer jobs than requested */
  advance(scan: Scan, jobs: readonly ClaimedJob[], isShort: boolean): void {
    const { state, cursors } = scan;
    if (isShort && cursors.length > 0 && scan.mayCheckForMissedWork(jobs.length))
      state.claimCheckedAt = this.clock.monotonic();
    advanceLastIds(state.lastIds, jobs);
  }

  end(scan: Scan): void {
    scan.state.running.delete(scan);
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
      moved.checkTookMs = known.checkTookMs;
      moved.claimCheckedAt = known.claimCheckedAt;
      for (const [priority, id] of known.lastIds) moved.lastIds.set(priority, id);
      for (const { priority, id } of jobs) {
        const last = moved.lastIds.get(priority);
        if (last !== undefined) moved.lastIds.set(priority, Math.min(last, id - 1));
      }
      this.#queues.set(queue, moved);
    }
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
        // Jobs may have returned meanwhile, which has replaced the state.
        const current = this.#queues.get(queue);
        if (!current) return;
        current.checkedAt = this.clock.monotonic();
        current.checkTookMs = current.checkedAt - now;
        if (hasMissedWork) this.#queues.delete(queue);
      },
    };
  }
}

/** The scan cursors of one queue: the last claimed id of each priority. */
class QueueScanState {
  readonly lastIds = new Map<number, number>();
  /** Claims that have neither committed nor failed. */
  readonly running = new Set<Scan>();
  checkTookMs = 0;
  /** When a claim last made a missed-work check. */
  claimCheckedAt = -Infinity;

  /** @param checkedAt when the last missed-work check outside of a claim ended */
  constructor(public checkedAt: number) {}
}

/** The start of a claim, and the progress of its scan. */
class Scan implements ScanStart {
  readonly cursors: readonly QueuePosition[];
  readonly committedCursors: readonly QueuePosition[];
  /** The last id that this claim has locked, for each priority. */
  readonly #reached = new Map<number, number>();
  readonly #checkedAgoMs: number;

  /** @param state if it was reset since, the claim changes nothing */
  constructor(
    readonly state: QueueScanState,
    startedAt: number,
  ) {
    this.committedCursors = state.lastIds.size > MAX_PRIORITIES ? [] : committedCursorsOf(state);
    this.cursors = this.committedCursors.map(({ priority, id }) => {
      // A scan over the locked jobs of running claims would cost as much as a claim of its own.
      const reached = Array.from(state.running, (running) => running.#reached.get(priority) ?? 0);
      return { priority, id: Math.max(id, ...reached) };
    });
    this.#checkedAgoMs = startedAt - state.claimCheckedAt;
  }

  reach(jobs: Iterable<QueuePosition>): void {
    advanceLastIds(this.#reached, jobs);
  }

  mayCheckForMissedWork(found: number): boolean {
    return this.#checkedAgoMs >= (found === 0 ? timeSharePauseMs(this.state) : checkPauseMs(this.state));
  }
}

function advanceLastIds(lastIds: Map<number, number>, jobs: Iterable<QueuePosition>): void {
  for (const { id, priority } of jobs) lastIds.set(priority, Math.max(id, lastIds.get(priority) ?? 0));
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

/** Repeats each work after jobs whose ids no number can represent were made dead. */
function withSafeIds(database: ClaimDatabase): ClaimDatabase {
  return {
    runIdempotent: (work) => withoutUnsafeIds(database, () => database.runIdempotent(work)),
    transaction: (work) => withoutUnsafeIds(database, () => database.transaction(work)),
    transactOnce: (work, hasWritten) => withoutUnsafeIds(database, () => database.transactOnce(work, hasWritten)),
  };
}

// Each try moves one batch of such jobs out of the way.
const MAX_TRIES = 10;

/** Repeats the work after jobs whose ids no number can represent were made dead, because the work cannot name them. */
export async function withoutUnsafeIds<T>(
  database: Pick<ClaimDatabase, 'transaction'>,
  work: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof UnsafeJobIdError) || tries === MAX_TRIES) throw error;
      await database.transaction(markUnsafeIdsDead, 1);
    }
  }
}
