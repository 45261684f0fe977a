import { StoreUnavailableError } from '../../job/errors.js';
import type { ClaimedJob } from '../../job/job.js';
import type { MaybeLater } from '../../job/user-rule.js';
import type { ClaimBounds } from '../claims/claim-bounds.js';
import type { PageRequest } from '../../job/page-options.js';
import type * as port from '../consumer-store.js';
import { assign, share } from './assign.js';
import { assigned, inStage, unassigned } from './assigned-jobs.js';
import { endAssignment, extendAssignment, moveJob, snoozeAssignment } from './end-assignment.js';
import { mayTake } from './queue-life.js';
import { ShortCountError } from './settle.js';
import type { SqlDatabase } from './sql-database.js';
import type { Work } from './statement.js';
import { takeFromStage } from './take-from-stage.js';
import { withDecisions } from './undecided.js';

export class SqlConsumerStore implements port.ConsumerStore {
  constructor(
    private readonly database: SqlDatabase,
    private readonly bounds: ClaimBounds,
  ) {}

  mayTake(queue: string): Promise<boolean> {
    return this.database.repeatable(() => mayTake(queue));
  }

  async share(sharing: port.Sharing): Promise<port.Assignment[]> {
    try {
      return await this.database.transactOnce(() => share(sharing));
    } catch (error) {
      if (error instanceof ShortCountError) return [];
      throw error;
    }
  }

  takeFromStage(request: port.StageRequest): Promise<port.Assignment[]> {
    return this.#transact(() => takeFromStage(request), isAny);
  }

  assign(
    id: number,
    to: port.Assignee,
    from: port.Holder,
    rules: (queue: string) => port.AssignRules,
  ): Promise<port.Assignment> {
    return this.#transact(() => assign(id, to, from, rules));
  }

  end(
    id: number,
    holder: port.Holder,
    decide: (job: ClaimedJob) => MaybeLater<port.Verdict>,
  ): Promise<port.EndedAssignment> {
    return withDecisions(decide, (remembering) => this.#ending(() => endAssignment(id, holder, remembering)));
  }

  snooze(id: number, holder: port.Holder, outcome: port.Snooze): Promise<port.EndedAssignment> {
    return this.database.transactOnce(() => snoozeAssignment(id, holder, outcome));
  }

  extend(id: number, holder: port.Holder, leaseMs: number): Promise<number> {
    return this.database.transactOnce(() => extendAssignment(id, holder, leaseMs));
  }

  move(id: number, holder: port.Holder, stage: string | null): Promise<port.EndedAssignment> {
    return this.#ending(() => moveJob(id, holder, stage));
  }

  unassigned(queue: string, page: PageRequest): Promise<port.AssignedJobRecord[]> {
    return this.database.repeatable(() => unassigned(queue, page));
  }

  assigned(owner: string, { queue }: { queue?: string }, page: PageRequest): Promise<port.AssignedJobRecord[]> {
    return this.database.repeatable(() => assigned(owner, queue ?? null, page));
  }

  inStage(queue: string, stage: string, page: PageRequest): Promise<port.AssignedJobRecord[]> {
    return this.database.repeatable(() => inStage(queue, stage, page));
  }

  async #ending(work: () => Work<port.EndedAssignment>): Promise<port.EndedAssignment> {
    const ended = await this.#transact(work);
    // It may stand in front of all others again.
    this.bounds.forget();
    return ended;
  }

  /** What is locked does not change hands but on a server that locks nothing, and there all of it is undone. */
  async #transact<T>(work: () => Work<T>, hasWritten?: (value: T) => boolean): Promise<T> {
    try {
      return await this.database.transactOnce(work, hasWritten);
    } catch (error) {
      if (!(error instanceof ShortCountError)) throw error;
      throw new StoreUnavailableError('A job changed hands in the meantime, and nothing was done.', 'not-done');
    }
  }
}

function isAny(taken: readonly unknown[]): boolean {
  return taken.length > 0;
}
