import { StoreUnavailableError } from '../../job/errors.js';
import type { ClaimedJob } from '../../job/job.js';
import type { MaybePromise } from '../../job/user-rule.js';
import type { ScanCursors } from '../jobs/claim/scan-cursors.js';
import type { PageRequest } from '../../job/page-options.js';
import type * as port from './consumer-store.js';
import { assign, splitClaim } from './assign.js';
import { listAssigned, listInStage, listUnassigned } from './assigned-jobs.js';
import { endAssignment, extendAssignment, moveJob, snoozeAssignment } from './end-assignment.js';
import { readClaimPermit } from '../topics/queue-registration.js';
import { FenceError } from '../jobs/complete-jobs.js';
import type { SqlDatabase } from '../core/sql-database.js';
import type { Work } from '../core/statement.js';
import { claimFromStage } from './claim-from-stage.js';
import { withDecisions } from '../core/with-decisions.js';

export class SqlConsumerStore implements port.ConsumerStore {
  constructor(
    private readonly database: SqlDatabase,
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
  ): Promise<port.EndedAssignment> {
    return withDecisions(decide, (decideOnce) => this.#endAndResetCursors(() => endAssignment(id, holder, decideOnce)));
  }

  snooze(id: number, holder: port.ExpectedHolder, outcome: port.Snooze): Promise<port.EndedAssignment> {
    return this.database.transactOnce(() => snoozeAssignment(id, holder, outcome));
  }

  extend(id: number, holder: port.ExpectedHolder, leaseMs: number): Promise<number> {
    return this.database.transactOnce(() => extendAssignment(id, holder, leaseMs));
  }

  move(id: number, holder: port.ExpectedHolder, stage: string | null): Promise<port.EndedAssignment> {
    return this.#endAndResetCursors(() => moveJob(id, holder, stage));
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

  async #endAndResetCursors(work: () => Work<port.EndedAssignment>): Promise<port.EndedAssignment> {
    const ended = await this.#transact(work);
    // The job may be the first of its queue again.
    this.scanCursors.reset();
    return ended;
  }

  /** Rolls back if a locked job has changed its claim, which happens only on a server that does not lock. */
  async #transact<T>(work: () => Work<T>, hasWritten?: (value: T) => boolean): Promise<T> {
    try {
      return await this.database.transactOnce(work, hasWritten);
    } catch (error) {
      if (!(error instanceof FenceError)) throw error;
      throw new StoreUnavailableError(
        'Another process claimed or finished the job meanwhile, and nothing was changed. Call again.',
        'not-done',
      );
    }
  }
}
