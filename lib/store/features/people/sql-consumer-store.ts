import { hasCode, StoreUnavailableError, TransactionLostError } from '../../../job/errors.js';
import type { StoreParts } from '../../rows/store-parts.js';
import type { ConsumerStore, EndedAssignment } from './consumer-store.js';
import { assign, splitClaim } from './assign.js';
import { listAssigned, listInStage, listUnassigned } from './assigned-jobs.js';
import { endAssignment, extendAssignment, moveJob, snoozeAssignment } from './end-assignment.js';
import { wakeGroup } from '../../ends/wake-groups.js';
import { readClaimPermit } from './claim-permit.js';
import { FenceError } from '../../ends/end-jobs.js';
import { inCallerTransaction, type CallerTransaction } from '../../core/caller-transaction.js';
import type { Work } from '../../core/statement.js';
import { claimFromStage } from './claim-from-stage.js';
import { locateLiveJob, type LiveJob } from './lock-assignment.js';
import { withDecisions } from '../../core/with-decisions.js';

export function sqlConsumerStore({ database, blocking, scanCursors }: StoreParts): ConsumerStore {
  /** Rolls back if a locked job has changed its claim, which happens only on a server that does not lock. */
  function transact<T>(work: () => Work<T>, hasWritten?: (value: T) => boolean): Promise<T> {
    return withConflictExplained('Nothing was changed. Call again.', () => blocking.transactOnce(work, hasWritten));
  }

  /**
   * Locates the job on another connection: the snapshot of the caller's transaction may be older than the claim, and a
   * locking read of a claim that does not exist would lock a gap, for which new claims wait.
   */
  async function within<T>(
    id: number,
    transaction: CallerTransaction,
    work: (located: LiveJob) => Work<T>,
  ): Promise<T> {
    const located = await database.readLatest(() => locateLiveJob(id), transaction);
    const ended = withConflictExplained('Roll your transaction back, and call again.', () =>
      inCallerTransaction(blocking, transaction, () => work(located)),
    );
    return ended.catch((error: unknown) => {
      throw hasCode(error, 'TRANSACTION_LOST') ? new TransactionLostError(id, located.queue) : error;
    });
  }

  async function end(
    id: number,
    transaction: CallerTransaction | undefined,
    work: (located?: LiveJob) => Work<EndedAssignment>,
  ): Promise<EndedAssignment> {
    if (transaction !== undefined) return within(id, transaction, work);
    const ended = await transact(() => work());
    // The job may wait again.
    scanCursors.moveBefore([ended.job]);
    return ended;
  }

  return {
    claimPermit: (queue) => blocking.runIdempotent(() => readClaimPermit(queue)),

    async splitClaim(split) {
      try {
        return await blocking.transactOnce(() => splitClaim(split));
      } catch (error) {
        if (error instanceof FenceError) return [];
        throw error;
      }
    },

    claimFromStage: (request) =>
      transact(
        () => claimFromStage(request),
        (claimed) => claimed.length > 0,
      ),

    assign: (id, to, from, rules) => transact(() => assign(id, to, from, rules)),

    end: (id, holder, decide, transaction) =>
      withDecisions(decide, (decideOnce) =>
        end(id, transaction, (located) => endAssignment(id, holder, decideOnce, located)),
      ),

    snooze(id, holder, outcome, transaction) {
      const work = (located?: LiveJob) => snoozeAssignment(id, holder, outcome, located);
      return transaction === undefined ? blocking.transactOnce(() => work()) : within(id, transaction, work);
    },

    extend: (id, holder, leaseMs) => blocking.transactOnce(() => extendAssignment(id, holder, leaseMs)),
    move: (id, holder, stage, transaction) => end(id, transaction, (located) => moveJob(id, holder, stage, located)),

    async onCommitted(job) {
      scanCursors.moveBefore([job]);
      const { queue, group, countsInGroup } = job;
      if (group === null || countsInGroup === false) return;
      await blocking.transaction(() => wakeGroup({ queue, group })).catch(() => undefined);
    },

    listUnassigned: (queue, page) => blocking.runIdempotent(() => listUnassigned(queue, page)),
    listAssigned: (owner, queue, page) => blocking.runIdempotent(() => listAssigned(owner, queue, page)),
    listInStage: (queue, stage, page) => blocking.runIdempotent(() => listInStage(queue, stage, page)),
  };
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
