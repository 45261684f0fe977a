import type { ClaimedJob } from '../../job/job.js';
import type { SqlDatabase } from '../core/sql-database.js';
import type { Work } from '../core/statement.js';
import type { ClaimedRow } from '../rows/claimed-row.js';
import type { ClaimRequest } from '../rows/claim.js';
import { claimInTurn } from '../features/groups/claim-in-turn.js';
import type { GroupTurns } from '../features/groups/group-turns.js';
import { claimWithinLimits } from '../features/limits/claim-within-limits.js';
import { withoutUnsafeIds } from './malformed-jobs.js';
import type { ClaimImplementation, ClaimStrategies } from './claim/claim-strategies.js';
import type { ScanCursors, ScanStart } from '../rows/scan-cursors.js';

/** Claims by the requested strategy, from the scan cursors of this process, and advances them. */
export class CursorClaimer {
  readonly #missedWorkChecks = new Set<Promise<void>>();

  constructor(
    private readonly database: Pick<SqlDatabase, 'runIdempotent' | 'transaction' | 'transactOnce'>,
    private readonly strategies: ClaimStrategies,
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

  async #claimOnce(request: ClaimRequest): Promise<ClaimedJob[]> {
    const mark = this.#strategyOf(request).mark?.(request);
    const marked = mark && (await withoutUnsafeIds(this.database, () => this.database.runIdempotent(mark)));
    if (marked?.length === 0) return [];
    const transact = (claim: () => Work<ClaimedJob[]>) =>
      request.once ? this.database.transactOnce(claim, (jobs) => jobs.length > 0) : this.database.transaction(claim);
    return this.claimWithin(request, transact, (jobs) => jobs, marked);
  }

  /** @param transact runs the claim in the caller's transaction, and again if the transaction is repeated */
  async claimWithin<T>(
    request: ClaimRequest,
    transact: (claim: () => Work<ClaimedJob[]>) => Promise<T>,
    jobsOf: (result: T) => readonly ClaimedJob[],
    marked: readonly ClaimedRow[] = [],
  ): Promise<T> {
    const strategy = this.#strategyOf(request);
    let start: ScanStart | undefined;
    const endScan = () => start && this.scanCursors.end(start);
    try {
      const result = await withoutUnsafeIds(this.database, () =>
        transact(() => {
          endScan();
          start = this.scanCursors.begin(request.queue);
          if (!strategy.mark) request.onChoosing?.();
          const { groups } = request;
          const claim = (limited: ClaimRequest) =>
            groups
              ? claimInTurn(limited, groups, this.groupTurns.rotationOf(request.queue))
              : strategy.claim(limited, start!, marked);
          return request.isLimited ? claimWithinLimits(request, claim) : claim(request);
        }),
      );
      const jobs = jobsOf(result);
      this.#advanceCursors(request, start!, jobs);
      if (request.groups) this.groupTurns.afterClaim(request, jobs.length);
      return result;
    } finally {
      endScan();
    }
  }

  async idle(): Promise<void> {
    await Promise.all([...this.#missedWorkChecks, this.groupTurns.idle()]);
  }

  /** A strategy that marks jobs in several transactions cannot keep limits or turns, so `optimistic` replaces it. */
  #strategyOf({ strategy, isLimited, groups }: ClaimRequest): ClaimImplementation {
    const { [strategy]: implementation, optimistic } = this.strategies.claimStrategies;
    if (!implementation) throw new TypeError(`This database has no strategy ${strategy}.`);
    return (isLimited || groups) && implementation.mark ? optimistic! : implementation;
  }

  #advanceCursors(request: ClaimRequest, start: ScanStart, jobs: readonly ClaimedJob[]): void {
    const { hasWorkBefore } = this.#strategyOf(request);
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
