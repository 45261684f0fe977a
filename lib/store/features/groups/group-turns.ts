import type { Clock } from '../../../common/clock.js';
import type { ClaimedJob } from '../../../job/job.js';
import type { SqlDatabase } from '../../core/sql-database.js';
import type { ClaimRequest } from '../../rows/claim.js';
import type { Rotation } from './claim-in-turn.js';
import { joinGroups, wakeDue } from './join-groups.js';
import { FROM_START, readGroupChanges, type GroupChanges, type RefreshCursors } from './read-group-changes.js';

// While claims find enough jobs, other groups wait at most this time until their jobs join.
const REFRESH_INTERVAL_MS = 100;
// A refresh may take one fiftieth of the time, because a long transaction elsewhere can make it slow.
const REFRESH_TIME_SHARE = 50;
const MAX_REFRESH_PAUSE_MS = 1_000;
// The rows of earlier turns are deleted entries of the index. A transaction that commits late may add one there, so a claim
// reads the whole range from time to time.
const LATE_COMMIT_MS = 2_000;
const WHOLE_RANGE_INTERVAL_MS = 1_000;

// Claims of other processes hold the locks of their groups for milliseconds.
const LOCKED_GROUPS_RETRY_MS = 10;

class QueueTurns {
  earliestTurn = 0;
  wholeRangeAt = -Infinity;
  refreshedAt = -Infinity;
  refreshTookMs = 0;
  cursors: RefreshCursors = FROM_START;
  /** Groups were ready at the last refresh. */
  hasReady = false;
  /** There may be ready groups that the last claim has not examined. */
  mayHaveMore = false;
  /** The last claim found fewer jobs than it wanted. */
  wasShort = true;
  refreshing: Promise<boolean> | undefined;
}

/** What this process knows of the groups of each queue. It lets arrived jobs join their groups when claims need them. */
export class GroupTurns {
  readonly #queues = new Map<string, QueueTurns>();

  constructor(
    private readonly database: Pick<SqlDatabase, 'runIdempotent' | 'transaction'>,
    private readonly clock: Clock,
  ) {}

  /** The part of the rotation that the next claim reads. */
  rotationOf(queue: string): Rotation {
    const known = this.#of(queue);
    const now = this.clock.monotonic();
    known.mayHaveMore = false;
    const isWhole = known.wasShort || now >= known.wholeRangeAt + WHOLE_RANGE_INTERVAL_MS;
    if (isWhole) known.wholeRangeAt = now;
    return {
      earliestTurn: isWhole ? 0 : known.earliestTurn,
      // The last claim came short although groups were ready: other transactions have locked the first ones.
      readsAll: known.wasShort && known.hasReady,
      onTurn: (turn, mayHaveMore) => {
        known.earliestTurn = turn - LATE_COMMIT_MS;
        known.mayHaveMore = mayHaveMore;
      },
    };
  }

  /** Refreshes before the claim if the last one found too few jobs, else before a second claim if the first finds none. */
  async claim(request: ClaimRequest, claimOnce: () => Promise<ClaimedJob[]>): Promise<ClaimedJob[]> {
    const known = this.#of(request.queue);
    const isFresh = known.wasShort;
    if (isFresh) await this.#refresh(request);
    const jobs = await claimOnce();
    // If the claim was not short, the limits of the queue allowed no job, so it has examined no group.
    if (jobs.length > 0 || isFresh || !known.wasShort) return jobs;
    const hasChanged = await this.#refresh(request);
    return hasChanged || known.hasReady ? claimOnce() : jobs;
  }

  /**
   * Refreshes in the background.
   *
   * @param request asks for the jobs that the limits of the queue allowed
   * @param found the number of jobs that the claim has returned
   */
  afterClaim(request: ClaimRequest, found: number): void {
    const { queue, limit, onMoreIn } = request;
    const known = this.#of(queue);
    const wasShort = known.wasShort;
    known.wasShort = found < limit;
    // The claim may have examined only groups at their limits.
    if (known.wasShort && known.mayHaveMore) onMoreIn?.(0);
    const pauseMs = Math.min(MAX_REFRESH_PAUSE_MS, known.refreshTookMs * REFRESH_TIME_SHARE);
    const isDue = this.clock.monotonic() >= known.refreshedAt + Math.max(REFRESH_INTERVAL_MS, pauseMs);
    if (isDue || (known.wasShort && !wasShort))
      void this.#refresh(request).then((hasChanged) => hasChanged && known.wasShort && onMoreIn?.(0));
  }

  async idle(): Promise<void> {
    await Promise.all(Array.from(this.#queues.values(), async ({ refreshing }) => refreshing));
  }

  #of(queue: string): QueueTurns {
    let known = this.#queues.get(queue);
    if (!known) this.#queues.set(queue, (known = new QueueTurns()));
    return known;
  }

  /** Resolves with whether groups have become ready. Never rejects: the next claim tries again. */
  #refresh({ queue, onMoreIn }: ClaimRequest): Promise<boolean> {
    const known = this.#of(queue);
    const startedAt = this.clock.monotonic();
    known.refreshing ??= this.#refreshOnce(queue, known, onMoreIn)
      .catch(() => false)
      .finally(() => {
        known.refreshing = undefined;
        known.refreshedAt = this.clock.monotonic();
        known.refreshTookMs = known.refreshedAt - startedAt;
      });
    return known.refreshing;
  }

  async #refreshOnce(queue: string, known: QueueTurns, onMoreIn: ClaimRequest['onMoreIn']): Promise<boolean> {
    const { database } = this;
    const read = (cursors: RefreshCursors) => database.runIdempotent(() => readGroupChanges(queue, cursors));
    let changes: GroupChanges = await read(known.cursors);
    // After the last group the read begins again with the first one.
    if (known.cursors !== FROM_START && isEmpty(changes)) changes = await read(FROM_START);
    const { returned, arrived, due, nextDueInMs, hasReady, next } = changes;
    known.cursors = next;
    known.hasReady = hasReady;
    if (nextDueInMs !== null) onMoreIn?.(nextDueInMs);
    let changed = 0;
    for (const arrivals of [returned, arrived])
      if (arrivals.length > 0) changed += await database.transaction(() => joinGroups(queue, arrivals));
    if (hasReady) onMoreIn?.(LOCKED_GROUPS_RETRY_MS);
    if (due.length > 0) changed += await database.transaction(() => wakeDue(queue, due));
    // More may wait than one page has, and some of them were locked or had changed.
    const found = returned.length + arrived.length + due.length;
    if (next !== FROM_START || changed < found) onMoreIn?.(REFRESH_INTERVAL_MS);
    return changed > 0;
  }
}

function isEmpty({ returned, arrived, due }: GroupChanges): boolean {
  return returned.length + arrived.length + due.length === 0;
}
