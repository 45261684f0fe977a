import { hasCode } from '../../job/errors.js';
import { type Outcome, completeWithoutResult } from '../../job/outcome.js';
import { storedError, type StoredError } from '../../job/stored-error.js';
import {
  JobsLockedError,
  type ClaimProgress,
  type Completion,
  type CompletionBatch,
  type CompletionResult,
} from '../../store/rows/completion.js';
import type { JobStore } from '../../store/verbs/job-store.js';
import type { Clock } from '../../common/clock.js';
import { logText, OutageLog, type JobLogger } from '../../common/logger.js';
import { jobLogParams } from '../../job/log-params.js';
import type { ActiveClaim, ClaimOwner } from '../queue/active-claim.js';

// A rejection can be temporary: an interrupted statement, or one that exceeded a time limit of the server.
const MAX_REJECTIONS = 4;
const MIN_RETRY_INTERVAL_MS = 50;
const MAX_RETRY_INTERVAL_MS = 2_000;

/**
 * The outcome that has committed. It differs from the given one if the job was cancelled instead, or if the database
 * rejected the given one. `lost`: the claim was lost, and nothing was written. `unconfirmed`: the writer gave up, and only
 * the database may know whether the outcome is stored.
 */
export type WrittenOutcome = Outcome | 'lost' | 'unconfirmed';

/** One outcome on its way to the database. */
export interface CompletionEntry {
  readonly claim: ActiveClaim;
  /** Undefined: the entry only raises the start limit of the claim. */
  readonly completion: Completion | undefined;
  readonly rejections?: number;
  /** It replaces an outcome that the database rejected. */
  readonly isSubstitute?: true;
  /** Another transaction had locked the job at the last attempt. */
  readonly wasLocked?: true;
  readonly onWritten: (written: WrittenOutcome) => void;
}

/** Entries that one transaction writes. */
export interface EntryBatch {
  readonly entries: readonly CompletionEntry[];
  /** An earlier transaction with these entries may have committed: its answer was lost. */
  readonly mayHaveCommitted: boolean;
  /** The pause before it is written. Default: none. */
  readonly delayMs?: number;
}

/**
 * Writes completion batches. Retries while the database is unavailable, because only the fence may decide that a job is
 * lost. Bisects a batch that the database rejects, so that one bad outcome does not fail the others.
 */
export class CompletionWriter {
  readonly #outage: OutageLog;

  /** @param retryAbort once aborted, the writer abandons each outcome that it cannot store at once */
  constructor(
    private readonly store: Pick<JobStore, 'complete'>,
    private readonly clock: Clock,
    private readonly logger: JobLogger,
    private readonly retryAbort: AbortSignal,
    private readonly owner: Pick<ClaimOwner, 'startAheadLimit' | 'abandon'>,
  ) {
    // Without a message for the end of the outage, because the poller logs it.
    this.#outage = new OutageLog(logger, 'Outcomes wait for the database');
  }

  /**
   * Returns the deferred outcomes, which the caller writes later. The others are stored or abandoned.
   *
   * @param attempt the first attempt, if the caller has started it
   */
  async write(batch: EntryBatch, attempt: Promise<unknown> = this.#complete(batch)): Promise<readonly EntryBatch[]> {
    let { mayHaveCommitted } = batch;
    const { entries } = batch;
    for (let pauseMs = MIN_RETRY_INTERVAL_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_RETRY_INTERVAL_MS)) {
      try {
        await attempt;
        // Only a batch that had to wait ends the outage: a locked one can wait while others are stored.
        if (pauseMs > MIN_RETRY_INTERVAL_MS) this.#outage.onSuccess();
        return [];
      } catch (error) {
        if (!hasCode(error, 'STORE_UNAVAILABLE')) return this.#writeRejected({ entries, mayHaveCommitted }, error);
        if (this.retryAbort.aborted) return this.#abandon(entries);
        if ((error as { outcome?: string }).outcome === 'unknown') mayHaveCommitted = true;
        this.#outage.onFailure(error);
        await this.clock.sleep(pauseMs, this.retryAbort);
        attempt = this.#complete({ entries, mayHaveCommitted });
      }
    }
  }

  /** Writes the batch in one transaction and applies the result to its claims. Rejects if nothing was written. */
  async attempt<R extends CompletionResult>(
    { entries, mayHaveCommitted }: EntryBatch,
    send: (batch: CompletionBatch) => Promise<R>,
  ): Promise<R> {
    const { batch, startLimits } = this.#createBatch(entries, mayHaveCommitted);
    const result = await send(batch);
    this.#onWritten(entries, startLimits, result);
    return result;
  }

  #complete(batch: EntryBatch): Promise<CompletionResult> {
    return this.attempt(batch, (completions) => this.store.complete(completions));
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

  /** The database is available, but does not store the batch as it is. */
  #writeRejected(batch: EntryBatch, error: unknown): Promise<readonly EntryBatch[]> {
    this.#outage.onSuccess();
    return error instanceof JobsLockedError ? this.#writeUnlocked(batch, error) : this.#bisect(batch, error);
  }

  /** Halves a rejected batch until the bad outcome is alone. If retries fail, an error outcome replaces it. */
  async #bisect({ entries, mayHaveCommitted }: EntryBatch, error: unknown): Promise<readonly EntryBatch[]> {
    if (entries.length > 1) {
      const half = Math.ceil(entries.length / 2);
      const deferred = await this.write({ entries: entries.slice(0, half), mayHaveCommitted });
      return [...deferred, ...(await this.write({ entries: entries.slice(half), mayHaveCommitted }))];
    }
    const [entry] = entries as [CompletionEntry];
    const { completion, rejections = 0, isSubstitute } = entry;
    if (rejections + 1 < MAX_REJECTIONS && !this.retryAbort.aborted) {
      const delayMs = MIN_RETRY_INTERVAL_MS * 2 ** rejections;
      return [{ entries: [{ ...entry, rejections: rejections + 1 }], mayHaveCommitted, delayMs }];
    }
    const { name, message } = storedError(error);
    this.logger.error(
      `The database rejected the outcome of job ${completion?.job.id ?? '(none)'}: ${logText(message)}`,
      undefined,
      completion && jobLogParams(completion.job),
    );
    if (!completion || isSubstitute) return this.#abandon(entries);
    const { outcome, isLast } = substituteOutcome(completion, { name, message: message.slice(0, 500) });
    const substitute = { ...entry, rejections: 0, completion: { ...completion, outcome, endedAt: this.clock.now() } };
    return this.write({
      entries: [isLast ? { ...substitute, isSubstitute: true } : substitute],
      mayHaveCommitted: false,
    });
  }

  /** One job that another transaction has locked, for example that of its own handler, must not delay the others. */
  async #writeUnlocked(
    { entries, mayHaveCommitted }: EntryBatch,
    { completions, message }: JobsLockedError,
  ): Promise<readonly EntryBatch[]> {
    const isLocked = ({ completion }: CompletionEntry) => completion !== undefined && completions.has(completion);
    const locked = entries.filter(isLocked);
    const unlocked = entries.filter((entry) => !isLocked(entry));
    const [first] = locked.filter(({ wasLocked }) => !wasLocked);
    if (first) this.logger.warn(`${message} Their outcomes wait until it ends.`, jobLogParams(first.completion!.job));
    const retried = locked.map((entry) => ({ ...entry, wasLocked: true as const }));
    const deferred = this.retryAbort.aborted
      ? this.#abandon(locked)
      : [{ entries: retried, mayHaveCommitted, delayMs: MAX_RETRY_INTERVAL_MS }];
    if (unlocked.length === 0) return deferred;
    return [...deferred, ...(await this.write({ entries: unlocked, mayHaveCommitted }))];
  }

  /** Leaves the jobs to the rescue, which follows when the lease expires. */
  #abandon(entries: readonly CompletionEntry[]): readonly EntryBatch[] {
    for (const { claim, completion, onWritten } of entries) {
      claim.abandon(completion ? [completion.job.id] : []);
      onWritten('unconfirmed');
    }
    return [];
  }
}

/** The replacement of an outcome that the database rejects. `isLast`: if it is rejected, too, the job is abandoned. */
function substituteOutcome({ job, outcome }: Completion, error: StoredError): { outcome: Outcome; isLast: boolean } {
  if (outcome.kind === 'complete' && outcome.result !== null)
    return { outcome: completeWithoutResult(`The database rejected it: ${error.message}`), isLast: false };
  if (job.attempt >= job.maxAttempts) return { outcome: { kind: 'dead', error }, isLast: true };
  return { outcome: { kind: 'retry', delayMs: 1_000, error }, isLast: true };
}
