import { pageSize } from '../../common/lists.js';
import { sharedAbortController } from '../../common/abort.js';
import { inRootContext } from '../../common/async-context.js';
import { hasCode } from '../../job/errors.js';
import type { DatabaseCall } from '../../job/instrumentation.js';
import type { ClaimedJob } from '../../job/job.js';
import type { ClaimProgress, Completion, CompletionBatch, CompletionResult } from '../../store/rows/completion.js';
import type { JobStore } from '../../store/verbs/job-store.js';
import type { ClaimRequest } from '../../store/rows/claim.js';
import type { Clock } from '../../common/clock.js';
import { OutageLog, type JobLogger } from '../../common/logger.js';
import type { ActiveClaim, ClaimOwner } from '../queue/active-claim.js';
import {
  abandon,
  MAX_RETRY_INTERVAL_MS,
  MIN_RETRY_INTERVAL_MS,
  RejectedBatches,
  type CompletionEntry,
  type EntryBatch,
  type WrittenOutcome,
} from './entry-batch.js';

const MAX_BATCH_SIZE = 1_000;
// While a service is slow for more errors than this, the claims wait for them: their jobs stay in memory.
const MAX_PREPARING = 1_000;

/**
 * Group commit. While one completion batch is being written, further outcomes gather, and the next batch writes them
 * together. The outcome of an idle worker is written at once. A claim shares the transaction of the outcomes that wait.
 *
 * Retries while the database is unavailable, because only the fence may decide that a job is lost. One bad outcome does
 * not fail the others of its batch.
 */
export class Completer {
  #pending: CompletionEntry[] = [];
  /** Batches whose time to retry has come. */
  #deferred: EntryBatch[] = [];
  #emptyClaimIds: number[] = [];
  /** Claims of the batches under way. The next batch with such a claim must know how the first one ended. */
  readonly #claimsInFlight = new Set<ActiveClaim>();
  readonly #flushes = new Set<Promise<unknown>>();
  #flushesOfPending = 0;
  #preparingCount = 0;
  #turn: Promise<void> | undefined;
  #scheduledSend: Promise<void> | undefined;
  readonly #retryAbort = sharedAbortController();
  readonly #outage: OutageLog;
  readonly #rejected: RejectedBatches;

  constructor(
    private readonly store: JobStore,
    private readonly clock: Clock,
    logger: JobLogger,
    private readonly owner: Pick<ClaimOwner, 'startAheadLimit' | 'abandon'>,
    /** Undefined if no instrumentation observes it. */
    private readonly onDatabaseCall?: (call: DatabaseCall) => void,
  ) {
    // Without a message for the end of the outage, because the poller logs it.
    this.#outage = new OutageLog(logger, 'Outcomes wait for the database');
    this.#rejected = new RejectedBatches(clock, logger, this.#retryAbort.signal);
  }

  complete(claim: ActiveClaim, completion: Completion, onWritten: (written: WrittenOutcome) => void): void {
    claim.markCompleting(completion.job.id);
    const entry: CompletionEntry = { claim, completion, onWritten };
    const preparing = this.store.prepareCompletion?.(completion);
    // A service that is slow to encode one error must not delay other outcomes, and the claims that share their batch.
    if (preparing && this.#preparingCount < MAX_PREPARING) this.#track(this.#addPrepared(entry, preparing));
    else this.#add(entry);
  }

  async #addPrepared(entry: CompletionEntry, preparing: Promise<unknown>): Promise<void> {
    this.#preparingCount++;
    await preparing;
    this.#preparingCount--;
    this.#add(entry);
  }

  /** Lets more jobs of the claim start although none has ended. */
  raiseStartLimit(claim: ActiveClaim, onRaised: () => void): void {
    if (!claim.beginRaisingStartLimit()) return;
    this.#add({
      claim,
      completion: undefined,
      onWritten: () => {
        claim.endRaisingStartLimit();
        onRaised();
      },
    });
  }

  /** Deletes a claim that its last job has left outside of a batch. */
  deleteIfEmptied(claim: ActiveClaim): void {
    if (!claim.isEmptied) return;
    this.#emptyClaimIds.push(claim.id);
    this.#scheduleSending();
  }

  /** A claim that follows at once shares a transaction with all outcomes of this turn of the event loop. */
  endOfTurn(): Promise<void> {
    this.#turn ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#turn = undefined;
        resolve();
      });
    });
    return this.#turn;
  }

  /** The outcomes never wait for the claim. */
  completeAndClaim(request: ClaimRequest): Promise<ClaimedJob[]> {
    const entries = this.#nextBatch();
    if (entries.length === 0) return this.store.claim(request);
    const batch = { entries, mayHaveCommitted: false };
    const attempt = this.#attempt(batch, (completions) => this.store.completeAndClaim(completions, request));
    const claimed = attempt.then(
      ({ jobs }) => jobs,
      (error: unknown) => this.#claimAfterFailure(error, request),
    );
    this.#flushPending(batch, attempt);
    return claimed;
  }

  async idle(): Promise<void> {
    while (this.#scheduledSend || this.#flushes.size > 0) await Promise.all([this.#scheduledSend, ...this.#flushes]);
  }

  /** Retries no longer. Outcomes that cannot be written are left to the rescue of their jobs. */
  stopRetrying(): void {
    this.#retryAbort.abort();
  }

  #add(entry: CompletionEntry): void {
    this.#pending.push(entry);
    this.#scheduleSending();
  }

  /** A rejected outcome does not prevent the claim. An unavailable database does. */
  async #claimAfterFailure(error: unknown, request: ClaimRequest): Promise<ClaimedJob[]> {
    if (hasCode(error, 'STORE_UNAVAILABLE')) throw error;
    return this.store.claim(request);
  }

  #scheduleSending(): void {
    this.#scheduledSend ??= inRootContext(() => this.#sendAfterTurn());
  }

  /** At the end of the turn, so that outcomes of one turn share a transaction. */
  async #sendAfterTurn(): Promise<void> {
    await this.endOfTurn();
    // One microtask later, so that claims of the same turn take these outcomes first.
    await Promise.resolve();
    this.#scheduledSend = undefined;
    this.#send();
  }

  #send(): void {
    const entries = this.#flushesOfPending === 0 ? this.#nextBatch() : [];
    if (entries.length > 0) this.#flushPending({ entries, mayHaveCommitted: false });
    for (const batch of this.#deferred.splice(0)) {
      const mustWait = batch.entries.some(({ claim }) => this.#claimsInFlight.has(claim));
      if (mustWait) this.#deferred.push(batch);
      else this.#track(this.#flush(batch));
    }
    const emptyClaimIds = this.#emptyClaimIds.splice(0);
    // If this fails, the lease of the claim expires, and the next rescue deletes it.
    if (emptyClaimIds.length > 0) this.#track(this.store.deleteEmptyClaims(emptyClaimIds).catch(() => undefined));
  }

  #nextBatch(): CompletionEntry[] {
    const available = this.#pending.filter(({ claim }) => !this.#claimsInFlight.has(claim));
    const entries = available.slice(0, pageSize(MAX_BATCH_SIZE));
    if (entries.length === this.#pending.length) this.#pending = [];
    else if (entries.length > 0) {
      const sent = new Set(entries);
      this.#pending = this.#pending.filter((entry) => !sent.has(entry));
    }
    return entries;
  }

  /** Until this flush ends, pending entries are sent only with claims. */
  #flushPending(batch: EntryBatch, attempt?: Promise<unknown>): void {
    this.#flushesOfPending++;
    this.#track(this.#flush(batch, attempt).finally(() => this.#flushesOfPending--));
  }

  async #flush(batch: EntryBatch, attempt?: Promise<unknown>): Promise<void> {
    for (const { claim } of batch.entries) this.#claimsInFlight.add(claim);
    try {
      await this.#observe(batch, () => this.#write(batch, attempt));
    } finally {
      for (const { claim } of batch.entries) this.#claimsInFlight.delete(claim);
    }
  }

  /**
   * Stores, abandons or defers each outcome of the batch.
   *
   * @param attempt the first attempt, if the caller has started it
   */
  async #write(batch: EntryBatch, attempt: Promise<unknown> = this.#complete(batch)): Promise<void> {
    let { mayHaveCommitted } = batch;
    const { entries } = batch;
    const { signal } = this.#retryAbort;
    for (let pauseMs = MIN_RETRY_INTERVAL_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_RETRY_INTERVAL_MS)) {
      try {
        await attempt;
        // Only a batch that had to wait ends the outage: a locked one can wait while others are stored.
        if (pauseMs > MIN_RETRY_INTERVAL_MS) this.#outage.onSuccess();
        return;
      } catch (error) {
        if (!hasCode(error, 'STORE_UNAVAILABLE')) return this.#writeRejected({ entries, mayHaveCommitted }, error);
        if (signal.aborted) return void abandon(entries);
        if ((error as { outcome?: string }).outcome === 'unknown') mayHaveCommitted = true;
        this.#outage.onFailure(error);
        await this.clock.sleep(pauseMs, signal);
        attempt = this.#complete({ entries, mayHaveCommitted });
      }
    }
  }

  /** The database is available, but does not store the batch as it is. */
  async #writeRejected(batch: EntryBatch, error: unknown): Promise<void> {
    this.#outage.onSuccess();
    for (const next of this.#rejected.replace(batch, error)) {
      if (next.delayMs === undefined) await this.#write(next);
      else this.#track(this.#defer(next));
    }
  }

  #complete(batch: EntryBatch): Promise<CompletionResult> {
    return this.#attempt(batch, (completions) => this.store.complete(completions));
  }

  /** Writes the batch in one transaction and applies the result to its claims. Rejects if nothing was written. */
  async #attempt<R extends CompletionResult>(
    { entries, mayHaveCommitted }: EntryBatch,
    send: (batch: CompletionBatch) => Promise<R>,
  ): Promise<R> {
    const { batch, startLimits } = this.#createBatch(entries, mayHaveCommitted);
    const result = await send(batch);
    this.#onWritten(entries, startLimits, result);
    return result;
  }

  #createBatch(
    entries: readonly CompletionEntry[],
    mayHaveCommitted: boolean,
  ): { batch: CompletionBatch; startLimits: Map<ActiveClaim, number> } {
    const completions: Completion[] = [];
    const completingIds = new Map<ActiveClaim, Set<number>>();
    for (const { claim, completion } of entries) {
      let ids = completingIds.get(claim);
      if (!ids) completingIds.set(claim, (ids = new Set()));
      if (!completion) continue;
      ids.add(completion.job.id);
      completions.push(completion);
    }
    const claims: ClaimProgress[] = [];
    const mayBeRescued = new Set<number>();
    const startLimits = new Map<ActiveClaim, number>();
    for (const [claim, ids] of completingIds) {
      const progress = claim.progressAfter(ids, this.owner.startAheadLimit(claim));
      startLimits.set(claim, progress.startLimit);
      if (claim.mayBeRescued(this.clock.monotonic())) mayBeRescued.add(claim.id);
      if (progress.isFinished || progress.startLimit > claim.startLimit) claims.push(progress);
    }
    const wereLocked = entries.some(({ wasLocked }) => wasLocked);
    return { batch: { completions, claims, mayHaveCommitted, wereLocked, mayBeRescued }, startLimits };
  }

  #onWritten(
    entries: readonly CompletionEntry[],
    startLimits: ReadonlyMap<ActiveClaim, number>,
    { lost, cancelled, lostClaims }: CompletionResult,
  ): void {
    for (const [claim, startLimit] of startLimits) {
      if (lostClaims.has(claim.id)) this.owner.abandon(claim);
      else claim.setStartLimit(startLimit);
    }
    for (const { claim, completion, onWritten } of entries) {
      if (completion) claim.markCommitted(completion.job.id);
      if (!completion || lost.has(completion)) onWritten('lost');
      else onWritten(cancelled.has(completion) ? { kind: 'cancel' } : completion.outcome);
    }
  }

  async #observe<T>({ entries }: EntryBatch, write: () => Promise<T>): Promise<T> {
    const { onDatabaseCall, clock } = this;
    if (!onDatabaseCall) return write();
    const startedAt = clock.monotonic();
    const queue = entries.every(({ claim }) => claim.queue === entries[0]!.claim.queue)
      ? entries[0]!.claim.queue
      : null;
    const jobs = entries.filter(({ completion }) => completion).length;
    const report = (error?: unknown) =>
      onDatabaseCall({ kind: 'complete', queue, jobs, durationMs: clock.monotonic() - startedAt, error });
    try {
      const written = await write();
      report();
      return written;
    } catch (error) {
      report(error);
      throw error;
    }
  }

  // The claim may live on for hours with other jobs, so no rescue would end these: this process must retry.
  async #defer({ delayMs = 0, ...batch }: EntryBatch): Promise<void> {
    await this.clock.sleep(delayMs, this.#retryAbort.signal);
    this.#deferred.push(batch);
    this.#scheduleSending();
  }

  #track(work: Promise<unknown>): void {
    const flush = work.finally(() => {
      this.#flushes.delete(flush);
      if (this.#pending.length + this.#deferred.length > 0) this.#scheduleSending();
    });
    this.#flushes.add(flush);
  }
}
