import { completeWithoutResult, type Outcome } from '../../job/outcome.js';
import { storedError, type StoredError } from '../../job/stored-error.js';
import { JobsLockedError, type Completion } from '../../store/rows/completion.js';
import type { Clock } from '../../common/clock.js';
import { logText, type JobLogger } from '../../common/logger.js';
import { jobLogParams } from '../../job/log-params.js';
import type { ActiveClaim } from '../queue/active-claim.js';

// A rejection can be temporary: an interrupted statement, or one that exceeded a time limit of the server.
const MAX_REJECTIONS = 4;
export const MIN_RETRY_INTERVAL_MS = 50;
export const MAX_RETRY_INTERVAL_MS = 2_000;

/**
 * The outcome that has committed. It differs from the given one if the job was cancelled instead, or if the database
 * rejected the given one. `lost`: the claim was lost, and nothing was written. `unconfirmed`: the completer gave up, and only
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
  /** The pause before it is written. Undefined: none. */
  readonly delayMs?: number;
}

/** The batches that are written in place of a batch that the database rejects. */
export class RejectedBatches {
  /** @param retryAbort once aborted, each outcome that cannot be stored at once is abandoned */
  constructor(
    private readonly clock: Clock,
    private readonly logger: JobLogger,
    private readonly retryAbort: AbortSignal,
  ) {}

  /** Returns the batches to write instead. Abandons the other outcomes. */
  replace(batch: EntryBatch, error: unknown): readonly EntryBatch[] {
    return error instanceof JobsLockedError ? this.#setLockedApart(batch, error) : this.#bisect(batch, error);
  }

  /** Halves a rejected batch until the bad outcome is alone. If retries fail, an error outcome replaces it. */
  #bisect({ entries, mayHaveCommitted }: EntryBatch, error: unknown): readonly EntryBatch[] {
    if (entries.length > 1) {
      const half = Math.ceil(entries.length / 2);
      return [entries.slice(0, half), entries.slice(half)].map((each) => ({ entries: each, mayHaveCommitted }));
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
    if (!completion || isSubstitute) return abandon(entries);
    const { outcome, isLast } = substituteOutcome(completion, { name, message: message.slice(0, 500) });
    const substitute = { ...entry, rejections: 0, completion: { ...completion, outcome, endedAt: this.clock.now() } };
    return [{ entries: [isLast ? { ...substitute, isSubstitute: true } : substitute], mayHaveCommitted: false }];
  }

  /** One job that another transaction has locked, for example that of its own handler, must not delay the others. */
  #setLockedApart(
    { entries, mayHaveCommitted }: EntryBatch,
    { completions, message }: JobsLockedError,
  ): readonly EntryBatch[] {
    const isLocked = ({ completion }: CompletionEntry) => completion !== undefined && completions.has(completion);
    const locked = entries.filter(isLocked);
    const unlocked = entries.filter((entry) => !isLocked(entry));
    const [first] = locked.filter(({ wasLocked }) => !wasLocked);
    if (first) this.logger.warn(`${message} Their outcomes wait until it ends.`, jobLogParams(first.completion!.job));
    const retried = locked.map((entry) => ({ ...entry, wasLocked: true as const }));
    const deferred = this.retryAbort.aborted
      ? abandon(locked)
      : [{ entries: retried, mayHaveCommitted, delayMs: MAX_RETRY_INTERVAL_MS }];
    return unlocked.length === 0 ? deferred : [...deferred, { entries: unlocked, mayHaveCommitted }];
  }
}

/** Leaves the jobs to the rescue, which follows when the lease expires. Returns nothing to write. */
export function abandon(entries: readonly CompletionEntry[]): readonly EntryBatch[] {
  for (const { claim, completion, onWritten } of entries) {
    claim.abandon(completion ? [completion.job.id] : []);
    onWritten('unconfirmed');
  }
  return [];
}

/** The replacement of an outcome that the database rejects. `isLast`: if it is rejected, too, the job is abandoned. */
function substituteOutcome({ job, outcome }: Completion, error: StoredError): { outcome: Outcome; isLast: boolean } {
  if (outcome.kind === 'complete' && outcome.result !== null)
    return { outcome: completeWithoutResult(`The database rejected it: ${error.message}`), isLast: false };
  if (job.attempt >= job.maxAttempts) return { outcome: { kind: 'dead', error }, isLast: true };
  return { outcome: { kind: 'retry', delayMs: 1_000, error }, isLast: true };
}
