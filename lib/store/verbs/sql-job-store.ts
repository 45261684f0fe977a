import { pageSize } from '../../common/lists.js';
import type { ClaimedJob } from '../../job/job.js';
import { LeaseLostError, StoreUnavailableError, TransactionLostError, UnsafeJobIdError } from '../../job/errors.js';
import { claimInTurn } from '../features/groups/claim-in-turn.js';
import { GroupTurns } from '../features/groups/group-turns.js';
import { claimWithinLimits } from '../features/limits/claim-within-limits.js';
import type { Scan, ScanCursors } from './scan-cursors.js';
import { markUnsafeIdsDead } from './malformed-jobs.js';
import { chooseStrategies } from './choose-strategies.js';
import type { ClaimDatabase, ClaimImplementation, ClaimRequest, ClaimStrategies, ReturnedJob } from '../rows/claim.js';
import { transactClaim } from '../rows/claimed-row.js';
import { inCallerTransaction, type CommitListener } from '../core/caller-transaction.js';
import type { JobStore } from './job-store.js';
import type { CompletionBatch, CompletionResult } from '../rows/completion.js';
import type { StoreParts } from '../rows/store-parts.js';
import { chunkJobs, enterJobs, hasEnterHook, insertJobs } from '../ends/enter-jobs.js';
import { fenceClaims, isFinished } from '../rows/fence.js';
import { handOff } from './hand-off.js';
import { replacedJobs, type KeyedEnqueuer } from '../features/keys/keyed-enqueuer.js';
import { extend, deleteEmptyClaims } from '../rows/lease.js';
import { hasUnusedKeys, pruneKeys } from '../features/keys/key-rows.js';
import { findExpiredClaims, rescueClaim, rescueEach } from './rescue.js';
import { completeSurvivors, rejectLocked } from './complete-survivors.js';
import { endJobs, FenceError } from '../ends/end-jobs.js';
import { type Statement, type Work, idsFrom } from '../core/statement.js';
import type { BoundStatement } from '../core/template.js';
import { countWaiting, summarizeWork, readUpcomingTimes } from './summarize-work.js';
import { StageCleanup } from './stage-cleanup.js';
import { StuckJobCleanup } from './stuck-job-cleanup.js';
import { promote } from './promote.js';
import { archiveExpired, prune } from './prune.js';
import { cancelRequests } from '../rows/cancel-requests.js';
import { addQueues } from '../features/queues/queue-registration.js';

export interface JobStoreSettings {
  readonly commits: CommitListener;
  readonly emitsEvents: (queue: string) => boolean;
  readonly claims: ClaimStrategies;
  readonly bindForApplication: (statement: Statement) => BoundStatement;
}

const EXPIRED_BATCH_SIZE = 100;
// Of a second each. The next batches of the process wait behind this one, so it soon checks which jobs are locked.
const MAX_LOCK_WAITS = 3;

const NONE: ReadonlySet<never> = new Set();

interface CompletedBatch<T> {
  readonly result: CompletionResult;
  readonly next: T;
}

/** The port on any database: decides for each verb how its statements are sent, and repeated after a failure. */
export function sqlJobStore(
  parts: StoreParts & { readonly scanCursors: ScanCursors },
  keyed: KeyedEnqueuer,
  { commits, emitsEvents, claims, bindForApplication }: JobStoreSettings,
): JobStore {
  const { dialect, database, blocking, scanCursors, clock, archives } = parts;
  const claiming = endingUnsafeIds(database);
  const groupTurns = new GroupTurns(database, clock);
  const stageCleanup = new StageCleanup(database);
  const stuckJobCleanup = new StuckJobCleanup(database);

  /**
   * The last claim that the previous rescue read. Claims with locked jobs stay, and they are the oldest. A rescue that
   * always started at the head would never get past a hundred of them.
   */
  let lastExpiredId = 0;

  function strategyOf({ strategy }: ClaimRequest): ClaimImplementation {
    const implementation = claims.supported[strategy];
    if (!implementation) throw new TypeError(`This database has no strategy ${strategy}.`);
    return implementation;
  }

  function claimOnce(request: ClaimRequest): Promise<ClaimedJob[]> {
    const strategy = strategyOf(request);
    if (strategy.claimAlone && !request.isLimited && !request.groups) return strategy.claimAlone(request, claiming);
    return claimWithin(
      request,
      (claim) => transactClaim(request, claiming, claim),
      (jobs) => jobs,
    );
  }

  /**
   * Claims by the requested strategy, from the scan cursors of this process, and advances them.
   *
   * @param transact runs the claim in the caller's transaction, and again if the transaction is repeated
   */
  async function claimWithin<T>(
    request: ClaimRequest,
    transact: (claim: () => Work<ClaimedJob[]>) => Promise<T>,
    jobsOf: (result: T) => readonly ClaimedJob[],
  ): Promise<T> {
    const { queue, groups, order } = request;
    const strategy = strategyOf(request);
    let scan: Scan | undefined;
    // The request within the limits of the queue; undefined: they allow no job.
    let allowed = undefined as ClaimRequest | undefined;
    const endScan = () => scan && scanCursors.end(scan);
    try {
      const result = await transact(() => {
        endScan();
        allowed = undefined;
        scan = scanCursors.begin(queue);
        request.onChoosing?.();
        const claim = (limited: ClaimRequest) => {
          allowed = limited;
          return groups
            ? claimInTurn(limited, groups, groupTurns.rotationOf(queue), strategy.groupLock)
            : strategy.claim(limited, scan!);
        };
        return request.isLimited ? claimWithinLimits(request, claim) : claim(request);
      });
      const jobs = jobsOf(result);
      // Other claims start from no cursor.
      if (strategy.cursorReads && !groups && order !== 'lifo') {
        scanCursors.advance(scan!, jobs, strategy.cursorReads);
        scanCursors.checkMissedWork(request, scan!.foundNone, strategy.cursorReads, claiming);
      }
      if (allowed?.groups) groupTurns.afterClaim(allowed, jobs.length);
      return result;
    } finally {
      endScan();
    }
  }

  /** Completes the batch in one transaction with the work that follows. Rejects with JobsLockedError if jobs are locked. */
  async function completeThen<T>(batch: CompletionBatch, next: () => Work<T>): Promise<CompletedBatch<T>> {
    const completeBy = (complete: (batch: CompletionBatch) => Work<CompletionResult>) =>
      claiming.transaction(function* () {
        return { result: yield* complete(batch), next: yield* next() };
      }, MAX_LOCK_WAITS);
    if (batch.wereLocked) await rejectLocked(database, batch);
    try {
      const completed = await completeBy(completeAll).catch((error: unknown) => {
        if (!(error instanceof FenceError)) throw error;
        return completeBy(completeSurvivors);
      });
      scanCursors.moveBefore(returningJobs(batch));
      return completed;
    } catch (error) {
      if (error instanceof StoreUnavailableError && error.locked) await rejectLocked(database, batch);
      throw error;
    }
  }

  return {
    async enqueue(jobs, transaction) {
      if (jobs.length === 0) return [];
      if (transaction) return inCallerTransaction(database, transaction, () => enterJobs(jobs));
      if (jobs.some((job) => hasEnterHook(job) || emitsEvents(job.queue))) {
        // Inserts the jobs before the final step, because events and hooks need the ids.
        return blocking.decideOnce(function* () {
          return { value: yield* enterJobs(jobs), hasWritten: true, writes: [] };
        });
      }
      const chunks = [...chunkJobs(jobs)];
      const results = await blocking.writeOnce(chunks.map(insertJobs));
      return chunks.flatMap(({ length }, index) => idsFrom(results[index]!, length));
    },

    enqueueStatement: async (job) => bindForApplication(insertJobs([job])),

    async enqueueKeyed(calls) {
      const results = await keyed.enqueue(calls);
      scanCursors.moveBefore(calls.flatMap((call, index) => replacedJobs(call, results[index]!)));
      return results;
    },

    async enqueueKeyedInTransaction(jobs, transaction) {
      const results = await keyed.enqueueWithin(jobs, transaction);
      const replaced = replacedJobs(jobs, results);
      if (replaced.length > 0) commits.afterCommit(transaction, () => scanCursors.moveBefore(replaced));
      return results;
    },

    afterCommit: (transaction, act) => (transaction ? commits.afterCommit(transaction, act) : act()),
    countWaiting: (queue, limit, transaction) => database.readLatest(() => countWaiting(queue, limit), transaction),
    summarizeWork: (...args) => database.runIdempotent(() => summarizeWork(scanCursors, ...args)),
    readUpcomingTimes: (schedules) => database.runIdempotent(() => readUpcomingTimes(schedules)),

    async claim(request) {
      if (request.groups) return groupTurns.claim(request, () => claimOnce(request));
      const jobs = await claimOnce(request);
      if (jobs.length > 0 || request.onMissedWork) return jobs;
      return (await scanCursors.missedWorkCheck(request.queue)) ? claimOnce(request) : jobs;
    },

    extend: (claimIds) => database.runIdempotent(() => extend(claimIds)),
    cancelRequests: (claimIds) => database.runIdempotent(() => cancelRequests(claimIds)),
    complete: async (batch) => (await completeThen(batch, doNothing)).result,

    // The claim comes last. It waits for no lock, and locks nothing for which another batch could wait.
    async completeAndClaim(batch, request) {
      scanCursors.moveBefore(returningJobs(batch));
      const { result, next: jobs } = await claimWithin(
        request,
        (claim) => completeThen(batch, claim),
        ({ next }) => next,
      );
      return { ...result, jobs };
    },

    completeWith: (work) =>
      database.inApplicationTransaction(async (manager, isStillOpen) => {
        const { value, completion } = await work(manager);
        const { id, queue } = completion.job;
        // Checked before the completion, which could not be undone outside of a transaction.
        if (!(await isStillOpen())) throw new TransactionLostError(id, queue);
        await inCallerTransaction(database, manager, () => endJobs([completion])).catch((error: unknown) => {
          throw error instanceof FenceError ? new LeaseLostError(id, queue) : error;
        });
        return value;
      }),

    async handOff(request) {
      for (let again = false; ; again = true) {
        try {
          await database.transaction(() => handOff(request, again));
          return true;
        } catch (error) {
          if (error instanceof FenceError) return false;
          const isOutcomeUnknown = error instanceof StoreUnavailableError && error.outcome === 'unknown';
          if (again || !isOutcomeUnknown) throw error;
        }
      }
    },

    async deleteEmptyClaims(claimIds) {
      await database.runIdempotent(() => deleteEmptyClaims(claimIds));
    },

    async promote(limit) {
      const promoted = await claiming.transaction(() => promote(limit, dialect));
      scanCursors.moveBefore(promoted);
      return promoted;
    },

    async rescue(rules, onRescued) {
      const limit = pageSize(EXPIRED_BATCH_SIZE);
      const expired = await database.runIdempotent(() => findExpiredClaims(lastExpiredId, limit));
      lastExpiredId = expired.length < limit ? 0 : expired.at(-1)!;
      return rescueEach(
        expired.filter((id) => !rules.isHeld(id)),
        rules,
        (id, decided) => claiming.transaction(() => rescueClaim(id, decided)),
        (rescued) => {
          scanCursors.moveBefore(rescued.map(({ job }) => job));
          onRescued?.(rescued);
        },
      );
    },

    prune: (limit) =>
      archives
        ? database.transaction(() => archiveExpired(limit, archives))
        : database.runIdempotent(() => prune(limit)),

    cleanUp: async (limit) => Math.max(await stageCleanup.cleanUp(limit), await stuckJobCleanup.cleanUp(limit)),

    // Reads first, because unused keys are rare, and most calls need no transaction.
    pruneKeys: async (limit) =>
      (await database.runIdempotent(hasUnusedKeys)) ? database.transaction(() => pruneKeys(limit)) : 0,

    async chooseStrategies(requested) {
      const queues = [...requested.keys()];
      if (queues.length === 0) return { byQueue: new Map() };
      await addQueues(parts, queues);
      return chooseStrategies(claims, requested, await claims.findRefusals(queues[0]!));
    },

    async close() {
      commits.stop();
      await Promise.all([database.close(), blocking.close()]);
      await Promise.all([scanCursors.idle(), groupTurns.idle()]);
    },
  };
}

// Each try moves one batch of such jobs out of the way.
const MAX_TRIES = 10;

/** Repeats a work that meets jobs whose ids no number can represent, after these were made dead: it cannot name them. */
function endingUnsafeIds(database: ClaimDatabase): ClaimDatabase {
  const repeating = async <T>(send: () => Promise<T>): Promise<T> => {
    for (let tries = 1; ; tries++) {
      try {
        return await send();
      } catch (error) {
        if (!(error instanceof UnsafeJobIdError) || tries === MAX_TRIES) throw error;
        await database.transaction(markUnsafeIdsDead, 1);
      }
    }
  };
  return {
    runIdempotent: (work) => repeating(() => database.runIdempotent(work)),
    transaction: (work, maxLockWaits) => repeating(() => database.transaction(work, maxLockWaits)),
    transactOnce: (work, hasWritten) => repeating(() => database.transactOnce(work, hasWritten)),
  };
}

/** Writes the batch, or throws a FenceError. Locks claims, then jobs, then history, like every transaction. */
function* completeAll({ completions, claims }: CompletionBatch): Work<CompletionResult> {
  yield* endJobs(completions, { claims: fenceClaims(claims, completions) });
  return { lost: NONE, cancelled: NONE, lostClaims: NONE };
}

// eslint-disable-next-line require-yield
function* doNothing(): Work<void> {}

/** The jobs that the batch returns to their queues, where they may stand before the scan cursors. */
function returningJobs({ completions }: CompletionBatch): ReturnedJob[] {
  return completions.filter((completion) => !isFinished(completion)).map(({ job }) => job);
}
