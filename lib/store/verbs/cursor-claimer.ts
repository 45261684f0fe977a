import { UnsafeJobIdError } from '../../job/errors.js';
import type { ClaimedJob } from '../../job/job.js';
import type { Work } from '../core/statement.js';
import type { ClaimRequest, ClaimDatabase, ClaimImplementation, ClaimStrategies } from '../rows/claim.js';
import { claimInTurn } from '../features/groups/claim-in-turn.js';
import type { GroupTurns } from '../features/groups/group-turns.js';
import { claimWithinLimits } from '../features/limits/claim-within-limits.js';
import { transactClaim } from '../rows/claimed-row.js';
import type { ScanCursors, ScanStart } from '../rows/scan-cursors.js';
import { markUnsafeIdsDead } from './malformed-jobs.js';

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
    let start: ScanStart | undefined;
    const endScan = () => start && this.scanCursors.end(start);
    try {
      const result = await withoutUnsafeIds(this.database, () =>
        transact(() => {
          endScan();
          start = this.scanCursors.begin(request.queue);
          request.onChoosing?.();
          const { groups } = request;
          const claim = (limited: ClaimRequest) =>
            groups
              ? claimInTurn(limited, groups, this.groupTurns.rotationOf(request.queue), strategy.groupLock)
              : strategy.claim(limited, start!);
          return request.isLimited ? claimWithinLimits(request, claim) : claim(request);
        }),
      );
      const jobs = jobsOf(result);
      this.#advanceCursors(request, strategy, start!, jobs);
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
    start: ScanStart,
    jobs: readonly ClaimedJob[],
  ): void {
    if (!hasWorkBefore || request.groups) return;
    this.scanCursors.advance(start, jobs, jobs.length < request.limit);
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
