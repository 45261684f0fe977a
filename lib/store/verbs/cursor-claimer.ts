import type { ClaimedJob } from '../../job/job.js';
import type { Work } from '../core/statement.js';
import type { ClaimRequest, ClaimDatabase, ClaimImplementation, ClaimStrategies } from '../rows/claim.js';
import { claimInTurn } from '../features/groups/claim-in-turn.js';
import type { GroupTurns } from '../features/groups/group-turns.js';
import { claimWithinLimits } from '../features/limits/claim-within-limits.js';
import { transactClaim } from '../rows/claimed-row.js';
import type { Scan, ScanCursors } from './scan-cursors.js';

/** Claims by the requested strategy, from the scan cursors of this process, and advances them. */
export class CursorClaimer {
  /** By queue. Each resolves with whether a job may wait before the cursors. */
  readonly #missedWorkChecks = new Map<string, Promise<boolean>>();

  constructor(
    private readonly database: ClaimDatabase,
    private readonly strategies: Pick<ClaimStrategies, 'supported'>,
    private readonly scanCursors: ScanCursors,
    private readonly groupTurns: GroupTurns,
  ) {}

  async claim(request: ClaimRequest): Promise<ClaimedJob[]> {
    if (!request.groups) return this.#claimFromQueue(request);
    const isFresh = await this.groupTurns.beforeClaim(request);
    const jobs = await this.#claimOnce(request);
    if (jobs.length > 0 || isFresh) return jobs;
    return (await this.groupTurns.afterEmptyClaim(request)) ? this.#claimOnce(request) : jobs;
  }

  async #claimFromQueue(request: ClaimRequest): Promise<ClaimedJob[]> {
    const jobs = await this.#claimOnce(request);
    if (jobs.length > 0 || request.onMissedWork) return jobs;
    return (await this.#missedWorkChecks.get(request.queue)) ? this.#claimOnce(request) : jobs;
  }

  #claimOnce(request: ClaimRequest): Promise<ClaimedJob[]> {
    const strategy = this.#strategyOf(request);
    if (strategy.claimAlone && !request.isLimited && !request.groups)
      return strategy.claimAlone(request, this.database);
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
    // The request within the limits of the queue; undefined: they allow no job.
    let allowed = undefined as ClaimRequest | undefined;
    const endScan = () => scan && this.scanCursors.end(scan);
    try {
      const result = await transact(() => {
        endScan();
        allowed = undefined;
        scan = this.scanCursors.begin(request.queue);
        request.onChoosing?.();
        const { groups } = request;
        const claim = (limited: ClaimRequest) => {
          allowed = limited;
          return groups
            ? claimInTurn(limited, groups, this.groupTurns.rotationOf(request.queue), strategy.groupLock)
            : strategy.claim(limited, scan!);
        };
        return request.isLimited ? claimWithinLimits(request, claim) : claim(request);
      });
      const jobs = jobsOf(result);
      this.#advanceCursors(request, strategy, scan!, jobs);
      if (allowed?.groups) this.groupTurns.afterClaim(allowed, jobs.length);
      return result;
    } finally {
      endScan();
    }
  }

  async idle(): Promise<void> {
    await Promise.all([...this.#missedWorkChecks.values(), this.groupTurns.idle()]);
  }

  #strategyOf({ strategy }: ClaimRequest): ClaimImplementation {
    const implementation = this.strategies.supported[strategy];
    if (!implementation) throw new TypeError(`This database has no strategy ${strategy}.`);
    return implementation;
  }

  #advanceCursors(
    request: ClaimRequest,
    { cursorReads }: ClaimImplementation,
    scan: Scan,
    jobs: readonly ClaimedJob[],
  ): void {
    const { queue, order, groups, onMissedWork } = request;
    // Other claims start from no cursor.
    if (!cursorReads || groups || order === 'lifo') return;
    this.scanCursors.advance(scan, jobs, cursorReads);
    const due = this.scanCursors.startDueCheck(queue, scan.foundNone, scan.foundNone && !onMissedWork);
    if (!due) return;
    // After the transaction of the claim, whose locks other processes await.
    const missedWorkCheck = this.database
      .runIdempotent(() => cursorReads.findWorkBefore(queue, due.bounds))
      .then(due.done, due.fail)
      .then((mayHaveMissed) => {
        if (mayHaveMissed) onMissedWork?.();
        return mayHaveMissed;
      })
      .finally(() => {
        if (this.#missedWorkChecks.get(queue) === missedWorkCheck) this.#missedWorkChecks.delete(queue);
      });
    this.#missedWorkChecks.set(queue, missedWorkCheck);
  }
}
