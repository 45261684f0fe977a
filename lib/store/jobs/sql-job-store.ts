import type { EntityManager } from 'typeorm';
import { LeaseLostError, StoreUnavailableError, TransactionLostError } from '../../job/errors.js';
import type { ClaimStrategy } from '../../job/claim-strategy.js';
import type { ClaimedJob, NewJob } from '../../job/job.js';
import type { Clock } from '../../common/clock.js';
import { GroupTurns } from '../groups/group-turns.js';
import { CursorClaimer } from './claim/cursor-claimer.js';
import type { ScanCursors } from './claim/scan-cursors.js';
import { chooseStrategies, type ClaimStrategies, type UnsupportedStrategies } from './claim/claim-strategies.js';
import type { CommitListener } from '../core/commit-listener.js';
import * as port from './job-store.js';
import type { KeyedCallResult, KeyedJobResult } from '../keys/key-store.js';
import type { Completion, CompletionBatch, CompletionResult } from './completion.js';
import type { Dialect } from '../core/sql-database.js';
import { chunkJobs, enqueue, insertJobs } from './enqueue.js';
import { isFinished } from './fence.js';
import { handOff } from '../people/hand-off.js';
import { idsFrom } from '../core/inserted-ids.js';
import type { KeyedEnqueuer } from '../keys/keyed-enqueuer.js';
import { extend, deleteEmptyClaims } from './lease.js';
import { hasUnusedKeys, pruneKeys } from '../keys/prune-keys.js';
import { EXPIRED_BATCH_SIZE, findExpiredClaims, rescueClaim, rescueEach } from './rescue.js';
import { completeBatch, type CompletedBatch } from './complete-batch.js';
import { completeClaimed, FenceError } from './complete-jobs.js';
import type { EventOutboxDatabase } from '../core/event-outbox-database.js';
import type { Work } from '../core/statement.js';
import { countWaiting, summarizeWork, readUpcoming } from './summarize-work.js';
import { StageCleanup } from '../people/stage-cleanup.js';
import { StuckJobCleanup } from './stuck-job-cleanup.js';
import { promote } from './promote.js';
import { archiveExpired, prune } from './prune.js';
import type { Archives } from '../schema/archive-options.js';
import { cancelRequests } from './cancel-requests.js';
import { withoutUnsafeIds } from './malformed-jobs.js';
import { hasSubject } from '../subjects/add-subjects.js';
import { addQueues } from '../topics/add-queues.js';

/** The port on any database: decides for each verb how its statements are sent, and repeated after a failure. */
export class SqlJobStore implements port.JobStore {
  readonly #stageCleanup: StageCleanup;
  readonly #stuckJobCleanup: StuckJobCleanup;
  readonly #claimer: CursorClaimer;

  /**
   * The last claim that the previous rescue read. Claims with locked jobs stay, and they are the oldest. A rescue that
   * always started at the head would never get past a hundred of them.
   */
  #lastExpiredId = 0;

  /**
   * @param blocking for enqueues, which may wait for a lock of the application. Heartbeats, completions and claims must
   * not wait behind them for a connection.
   * @param archives for finished jobs whose retention is over. Undefined: they are deleted.
   */
  constructor(
    private readonly database: EventOutboxDatabase,
    private readonly blocking: EventOutboxDatabase,
    private readonly keyed: KeyedEnqueuer,
    private readonly dialect: Dialect & ClaimStrategies,
    private readonly commits: CommitListener,
    private readonly scanCursors: ScanCursors,
    private readonly unsupported: (queue: string) => Promise<UnsupportedStrategies>,
    clock: Clock,
    private readonly archives?: Archives,
  ) {
    this.#claimer = new CursorClaimer(database, dialect, scanCursors, new GroupTurns(database, dialect, clock));
    this.#stageCleanup = new StageCleanup(database);
    this.#stuckJobCleanup = new StuckJobCleanup(database);
  }

  async enqueue(jobs: readonly NewJob[], transaction?: port.CallerTransaction): Promise<number[]> {
    if (jobs.length === 0) return [];
    if (transaction) return this.database.inCallerTransaction(transaction, () => enqueue(jobs));
    if (jobs.some((job) => hasSubject(job) || this.database.outbox.emitsEvents(job.queue))) {
      // Inserts the jobs before the final step, because their events and subjects need the ids.
      return this.blocking.decideOnce(function* () {
        return { value: yield* enqueue(jobs), hasWritten: true, writes: [] };
      });
    }
    const chunks = chunkJobs(jobs);
    const results = await this.blocking.writeOnce(chunks.map(insertJobs));
    return chunks.flatMap(({ length }, index) => idsFrom(results[index]!, length));
  }

  async enqueueKeyed(calls: readonly (readonly NewJob[])[]): Promise<readonly KeyedCallResult[]> {
    const results = await this.keyed.enqueue(calls);
    // A replaced job keeps its old id, so it may stand before the cursors.
    if (results.some(hasReplaced)) this.scanCursors.reset();
    return results;
  }

  async enqueueKeyedInTransaction(
    jobs: readonly NewJob[],
    transaction: port.CallerTransaction,
  ): Promise<readonly KeyedJobResult[]> {
    this.database.requireOpenTransaction(transaction);
    const results = await this.keyed.enqueueWithin(jobs, transaction);
    if (hasReplaced(results)) this.commits.afterCommit(transaction, () => this.scanCursors.reset());
    return results;
  }

  afterCommit(transaction: port.CallerTransaction, act: () => void): void {
    this.commits.afterCommit(transaction, act);
  }

  countWaiting(queue: string, limit: number, transaction?: port.CallerTransaction): Promise<number> {
    return this.database.readLatest(() => countWaiting(queue, limit), transaction);
  }

  summarizeWork(queues: readonly string[], schedules?: readonly string[]): Promise<port.WorkSummary> {
    return this.database.runIdempotent(() => summarizeWork(queues, schedules));
  }

  readUpcoming(schedules?: readonly string[]): Promise<port.UpcomingTimes> {
    return this.database.runIdempotent(() => readUpcoming(schedules));
  }

  claim(request: port.ClaimRequest): Promise<ClaimedJob[]> {
    return this.#claimer.claim(request);
  }

  extend(claimIds: readonly number[]): Promise<port.ClaimLease[]> {
    return this.database.runIdempotent(() => extend(claimIds));
  }

  cancelRequests(claimIds: readonly number[]): Promise<ReadonlyMap<number, readonly number[]>> {
    return this.database.runIdempotent(() => cancelRequests(claimIds));
  }

  async complete(batch: CompletionBatch): Promise<CompletionResult> {
    return (await this.#completeThen(batch, doNothing)).result;
  }

  // The claim comes last. It waits for no lock, and locks nothing for which another batch could wait.
  async completeAndClaim(batch: CompletionBatch, request: port.ClaimRequest) {
    if (hasReturningJobs(batch)) this.scanCursors.reset();
    const { result, next: jobs } = await this.#claimer.claimWithin(
      request,
      (claim) => this.#completeThen(batch, claim),
      ({ next }) => next,
    );
    return { ...result, jobs };
  }

  async #completeThen<T>(batch: CompletionBatch, next: () => Work<T>): Promise<CompletedBatch<T>> {
    const completed = await completeBatch(this.database, batch, next);
    if (hasReturningJobs(batch)) this.scanCursors.reset();
    return completed;
  }

  completeWith<T>(work: (manager: EntityManager) => Promise<{ value: T; completion: Completion }>): Promise<T> {
    return this.database.inApplicationTransaction(async (manager, isStillOpen) => {
      const { value, completion } = await work(manager);
      const { id, queue } = completion.job;
      // Checked before the completion, which could not be undone outside of a transaction.
      if (!(await isStillOpen())) throw new TransactionLostError(id, queue);
      await this.database
        .inCallerTransaction(manager, () => completeClaimed([completion]))
        .catch((error: unknown) => {
          throw error instanceof FenceError ? new LeaseLostError(id, queue) : error;
        });
      return value;
    });
  }

  async handOff(request: port.HandOff): Promise<boolean> {
    for (let again = false; ; again = true) {
      try {
        await this.database.transaction(() => handOff(request, again));
        return true;
      } catch (error) {
        if (error instanceof FenceError) return false;
        const isOutcomeUnknown = error instanceof StoreUnavailableError && error.outcome === 'unknown';
        if (again || !isOutcomeUnknown) throw error;
      }
    }
  }

  deleteEmptyClaims(claimIds: readonly number[]): Promise<void> {
    return this.database.runIdempotent(() => deleteEmptyClaims(claimIds));
  }

  async promote(limit: number): Promise<readonly port.PromotedJob[]> {
    const promoted = await withoutUnsafeIds(this.database, () =>
      this.database.transaction(() => promote(limit, this.dialect)),
    );
    if (promoted.length > 0) this.scanCursors.reset();
    return promoted;
  }

  async rescue(rules: port.RescueRules): Promise<port.RescuedJob[]> {
    const expired = await this.database.runIdempotent(() => findExpiredClaims(this.#lastExpiredId));
    this.#lastExpiredId = expired.length < EXPIRED_BATCH_SIZE ? 0 : expired.at(-1)!;
    const rescued = await rescueEach(expired, rules, (id, decided) =>
      withoutUnsafeIds(this.database, () => this.database.transaction(() => rescueClaim(id, decided))),
    );
    if (rescued.length > 0) this.scanCursors.reset();
    return rescued;
  }

  prune(limit: number): Promise<number> {
    const { archives } = this;
    if (archives) return this.database.transaction(() => archiveExpired(limit, archives));
    return this.database.runIdempotent(() => prune(limit));
  }

  async cleanUp(limit: number): Promise<number> {
    return Math.max(await this.#stageCleanup.cleanUp(limit), await this.#stuckJobCleanup.cleanUp(limit));
  }

  // Reads first, because unused keys are rare, and most calls need no transaction.
  async pruneKeys(limit: number): Promise<number> {
    if (!(await this.database.runIdempotent(hasUnusedKeys))) return 0;
    return this.database.transaction(() => pruneKeys(limit));
  }

  async chooseStrategies(requested: ReadonlyMap<string, ClaimStrategy | 'auto'>): Promise<port.ChosenStrategies> {
    const queues = [...requested.keys()];
    if (queues.length === 0) return { byQueue: new Map() };
    await addQueues(this.database, this.dialect, queues);
    return chooseStrategies(this.dialect, requested, await this.unsupported(queues[0]!));
  }

  async close(): Promise<void> {
    this.commits.stop();
    await Promise.all([this.database.close(), this.blocking.close()]);
    await this.#claimer.idle();
  }
}

// eslint-disable-next-line require-yield
function* doNothing(): Work<void> {}

function hasReplaced(result: KeyedCallResult): boolean {
  return Array.isArray(result) && result.some(({ outcome }) => outcome === 'replaced');
}

/** Whether the batch returns jobs to their queues, where they may stand before the scan cursors. */
function hasReturningJobs({ completions }: CompletionBatch): boolean {
  return completions.some((completion) => !isFinished(completion));
}
