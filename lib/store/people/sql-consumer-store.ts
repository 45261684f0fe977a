import { StoreUnavailableError, TransactionLostError } from '../../job/errors.js';
import type { ClaimedJob } from '../../job/job.js';
import type { MaybePromise } from '../../job/user-rule.js';
import type { ScanCursors } from '../jobs/claim/scan-cursors.js';
import type { PageRequest } from '../../job/page-options.js';
import type * as port from './consumer-store.js';
import { assign, splitClaim } from './assign.js';
import { listAssigned, listInStage, listUnassigned } from './assigned-jobs.js';
import { endAssignment, extendAssignment, moveJob, snoozeAssignment } from './end-assignment.js';
import { wakeGroup } from '../groups/wake-groups.js';
import { readClaimPermit } from '../topics/queue-registration.js';
import { FenceError } from '../jobs/complete-jobs.js';
import type { CallerTransaction } from '../core/caller-transaction.js';
import type { SqlDatabase } from '../core/sql-database.js';
import type { Work } from '../core/statement.js';
import { claimFromStage } from './claim-from-stage.js';
import { locateLiveJob, type LiveJob } from './lock-assignment.js';
import { withDecisions } from '../core/with-decisions.js';

export class SqlConsumerStore implements port.ConsumerStore {
  /** @param latest for reads that a caller's transaction needs, while calls of `database` may wait for its locks */
  constructor(
    private readonly database: SqlDatabase,
    private readonly latest: Pick<SqlDatabase, 'readLatest'>,
    private readonly scanCursors: ScanCursors,
  ) {}

  claimPermit(queue: string): Promise<port.ClaimPermit> {
    return this.database.runIdempotent(() => readClaimPermit(queue));
  }

  async splitClaim(split: port.ClaimSplit): Promise<port.Assignment[]> {
    try {
      return await this.database.transactOnce(() => splitClaim(split));
    } catch (error) {
      if (error instanceof FenceError) return [];
      throw error;
    }
  }

  claimFromStage(request: port.StageClaimRequest): Promise<port.Assignment[]> {
    return this.#transact(
      () => claimFromStage(request),
      (claimed) => claimed.length > 0,
    );
  }

  assign(
    id: number,
    to: port.Assignee,
    from: port.ExpectedHolder,
    rules: (queue: string) => port.AssignRules,
  ): Promise<port.Assignment> {
    return this.#transact(() => assign(id, to, from, rules));
  }

  end(
    id: number,
    holder: port.ExpectedHolder,
    decide: (job: ClaimedJob) => MaybePromise<port.PersonOutcome>,
    transaction?: CallerTransaction,
  ): Promise<port.EndedAssignment> {
    return withDecisions(decide, (decideOnce) =>
      this.#end(id, transaction, (located) => endAssignment(id, holder, decideOnce, located)),
    );
  }

  snooze(
    id: number,
    holder: port.ExpectedHolder,
    outcome: port.Snooze,
    transaction?: CallerTransaction,
  ): Promise<port.EndedAssignment> {
    const work = (located?: LiveJob) => snoozeAssignment(id, holder, outcome, located);
    return transaction === undefined ? this.database.transactOnce(() => work()) : this.#within(id, transaction, work);
  }

  extend(id: number, holder: port.ExpectedHolder, leaseMs: number): Promise<number> {
    return this.database.transactOnce(() => extendAssignment(id, holder, leaseMs));
  }

  move(
    id: number,
    holder: port.ExpectedHolder,
    stage: string | null,
    transaction?: CallerTransaction,
  ): Promise<port.EndedAssignment> {
    return this.#end(id, transaction, (located) => moveJob(id, holder, stage, located));
  }

  async onCommitted(job: ClaimedJob): Promise<void> {
    this.scanCursors.reset();
    if (job.group === null || job.countsInGroup === false) return;
    const { queue, group } = job;
    await this.database.transaction(() => wakeGroup({ queue, group })).catch(() => undefined);
  }

  listUnassigned(queue: string, page: PageRequest): Promise<port.AssignedJobRecord[]> {
    return this.database.runIdempotent(() => listUnassigned(queue, page));
  }

  listAssigned(owner: string, queue: string | null, page: PageRequest): Promise<port.AssignedJobRecord[]> {
    return this.database.runIdempotent(() => listAssigned(owner, queue, page));
  }

  listInStage(queue: string, stage: string, page: PageRequest): Promise<port.AssignedJobRecord[]> {
    return this.database.runIdempotent(() => listInStage(queue, stage, page));
  }

  async #end(
    id: number,
    transaction: CallerTransaction | undefined,
    work: (located?: LiveJob) => Work<port.EndedAssignment>,
  ): Promise<port.EndedAssignment> {
    if (transaction !== undefined) return this.#within(id, transaction, work);
    const ended = await this.#transact(() => work());
    // The job may be the first of its queue again.
    this.scanCursors.reset();
    return ended;
  }

  /**
   * Locates the job on another connection: the snapshot of the caller's transaction may be older than the claim, and a
   * locking read of a claim that does not exist would lock a gap, for which new claims wait.
   */
  async #within<T>(id: number, transaction: CallerTransaction, work: (located: LiveJob) => Work<T>): Promise<T> {
    const located = await this.latest.readLatest(() => locateLiveJob(id), transaction);
    if (!(await this.database.isStillOpen(transaction))) throw new TransactionLostError(id, located.queue);
    return withConflictExplained('Roll your transaction back, and call again.', () =>
      this.database.inCallerTransaction(transaction, () => work(located)),
    );
  }

  /** Rolls back if a locked job has changed its claim, which happens only on a server that does not lock. */
  #transact<T>(work: () => Work<T>, hasWritten?: (value: T) => boolean): Promise<T> {
    return withConflictExplained('Nothing was changed. Call again.', () =>
      this.database.transactOnce(work, hasWritten),
    );
  }
}

async function withConflictExplained<T>(wayOut: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof FenceError)) throw error;
    const problem = 'Another process claimed or finished the job meanwhile.';
    throw new StoreUnavailableError(`${problem} ${wayOut}`, 'not-done');
  }
}
