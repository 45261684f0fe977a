import { pageSize } from '../../common/lists.js';
import { sharedAbortController } from '../../common/abort.js';
import { inRootContext } from '../../common/async-context.js';
import { hasCode } from '../../job/errors.js';
import type { DatabaseCall } from '../../job/instrumentation.js';
import type { ClaimedJob } from '../../job/job.js';
import type { Completion } from '../../store/rows/completion.js';
import type { JobStore } from '../../store/verbs/job-store.js';
import type { ClaimRequest } from '../../store/rows/claim.js';
import type { Clock } from '../../common/clock.js';
import type { JobLogger } from '../../common/logger.js';
import type { ActiveClaim, ClaimOwner } from '../queue/active-claim.js';
import { CompletionWriter, type CompletionEntry, type EntryBatch, type WrittenOutcome } from './completion-writer.js';

const MAX_BATCH_SIZE = 1_000;

/**
 * Group commit. While one completion batch is being written, further outcomes gather, and the next batch writes them
 * together. The outcome of an idle worker is written at once. A claim shares the transaction of the outcomes that wait.
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
  #turn: Promise<void> | undefined;
  #scheduledSend: Promise<void> | undefined;
  readonly #retryAbort = sharedAbortController();
  readonly #writer: CompletionWriter;

  constructor(
    private readonly store: JobStore,
    private readonly clock: Clock,
    logger: JobLogger,
    owner: Pick<ClaimOwner, 'startAheadLimit' | 'abandon'>,
    /** Undefined if no instrumentation observes it. */
    private readonly onDatabaseCall?: (call: DatabaseCall) => void,
  ) {
    this.#writer = new CompletionWriter(store, clock, logger, this.#retryAbort.signal, owner);
  }

  complete(claim: ActiveClaim, completion: Completion, onWritten: (written: WrittenOutcome) => void): void {
    claim.markCompleting(completion.job.id);
    this.#add({ claim, completion, onWritten });
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
    const attempt = this.#writer.attempt(batch, (completions) => this.store.completeAndClaim(completions, request));
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
      const deferred = await this.#observe(batch, () => this.#writer.write(batch, attempt));
      for (const each of deferred) this.#track(this.#defer(each));
    } finally {
      for (const { claim } of batch.entries) this.#claimsInFlight.delete(claim);
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
