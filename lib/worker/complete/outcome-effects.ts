import { LeaseLostError } from '../../job/errors.js';
import type { ClaimedJob } from '../../job/job.js';
import { jobLogParams } from '../../job/log-params.js';
import {
  isFinalOutcome,
  isClaimableAtOnce,
  jobRetentionMs,
  mayBeInFlow,
  OUTCOME_OF,
  outcomeWithoutRun,
  type Outcome,
} from '../../job/outcome.js';
import type { ResolvedQueueOptions } from '../../job/queue-options.js';
import { toCompletion, type Attempt } from '../run/attempt.js';
import type { AttemptEnd } from '../run/attempt-parts.js';
import type { Completion } from '../../store/rows/completion.js';
import type { ActiveClaim, BufferedJob } from '../queue/active-claim.js';
import type { WorkerContext } from '../queue/worker-context.js';
import type { WrittenOutcome } from './entry-batch.js';
import type { FlowSettler } from './flow-settler.js';
import type { WorkerParts } from '../worker-parts.js';
import { logStack, logText } from '../../common/logger.js';

// A process without a handler for a job snoozes it, so that another process can claim it.
const UNHANDLED_SNOOZE_MS = 10_000;
const RUNNING_SNOOZE_MS = 1_000;

/** Completes the jobs of one queue. After each commit it emits events, logs failures and notifies. */
export class OutcomeEffects {
  readonly #unhandledNames = new Set<string>();
  /** Includes their effects: the queue is not idle until a job that can run again at once was announced. */
  #pendingOutcomes = 0;

  /** @param onOutcomeDone called when the effects of an outcome are over, or when a delayed outcome was sent */
  constructor(
    private readonly parts: WorkerContext,
    private readonly options: ResolvedQueueOptions,
    private readonly onOutcomeDone: () => void,
  ) {}

  get isIdle(): boolean {
    return this.#pendingOutcomes === 0;
  }

  endAttempt(attempt: Attempt, end: AttemptEnd): void {
    this.#pendingOutcomes++;
    // The log and the progress of a job are stored before its outcome, and so is the rest of its queue.
    const logWritten = attempt.finish();
    const rest = end.outcome.kind === 'release' ? end.outcome.rest : undefined;
    if (logWritten || rest)
      void this.#completeAfter([logWritten, rest && this.parts.queues.rest(attempt.job, rest)], attempt, end);
    else this.#complete(attempt, end);
  }

  snoozeUnhandled(claim: ActiveClaim, job: ClaimedJob): void {
    if (!this.#unhandledNames.has(job.name)) {
      this.#unhandledNames.add(job.name);
      this.parts.logger.warn(
        `No handler in this process for jobs named "${job.name}" of queue "${job.queue}". This process snoozes ` +
          `them for ${UNHANDLED_SNOOZE_MS / 1_000} s each time, so that a process with a handler can claim them.`,
        jobLogParams(job, this.parts.workerId),
      );
    }
    this.completeUnstarted(claim, job, { kind: 'snooze', delayMs: UNHANDLED_SNOOZE_MS });
  }

  /** The handler of an earlier claim of the job has not ended in this process. */
  snoozeRunning(claim: ActiveClaim, job: ClaimedJob): void {
    this.parts.logger.warn(
      `Job ${job.id} of queue "${job.queue}" is back, but its handler of a lost claim still runs in this process. ` +
        `It waits for that handler, or for another process.`,
      jobLogParams(job, this.parts.workerId),
    );
    this.completeUnstarted(claim, job, { kind: 'snooze', delayMs: RUNNING_SNOOZE_MS });
  }

  /** Completes the jobs of the claim that cannot run, and returns the others. */
  completeUnrunnable(claim: ActiveClaim, jobs: readonly ClaimedJob[]): BufferedJob[] {
    const runnable: BufferedJob[] = [];
    jobs.forEach((job, indexInClaim) => {
      const outcome = outcomeWithoutRun(job);
      if (outcome) this.completeUnstarted(claim, job, outcome);
      else runnable.push({ claim, job, indexInClaim });
    });
    return runnable;
  }

  completeUnstarted(claim: ActiveClaim, job: ClaimedJob, outcome: Outcome): void {
    const { completer, workerId, clock } = this.parts;
    this.#pendingOutcomes++;
    const completion = toCompletion({ job, claimId: claim.id, workerId, outcome, ranMs: null }, this.options, clock);
    completer.complete(claim, completion, (written) => {
      const settled = isWritten(written) ? this.#onCommitted(job, null, null, written, undefined) : undefined;
      if (written === 'unconfirmed') this.#logUnconfirmed(job, claim, outcome);
      this.#finishOutcome(claim, settled);
    });
  }

  async #completeAfter(writes: readonly unknown[], attempt: Attempt, end: AttemptEnd): Promise<void> {
    await Promise.all(writes);
    this.#complete(attempt, end);
    // A poison candidate may wait until no other job of its claim runs.
    this.onOutcomeDone();
  }

  #complete(attempt: Attempt, { outcome, result, isDetached, isHandedOff }: AttemptEnd): void {
    const { claim, job, startedAtMs } = attempt;
    const completion = attempt.completionOf(outcome);
    const { ranMs } = completion;
    const onWritten = (written: WrittenOutcome) => {
      if (!isWritten(written)) {
        this.#onNotWritten(job, claim, ranMs, written === 'lost' ? undefined : outcome);
        return this.#finishOutcome(claim);
      }
      const settled = this.#onCommitted(job, ranMs, startedAtMs, written, result);
      if (attempt.hasReported && isFinalOutcome(written) && !isKept(completion, written))
        void this.parts.jobLogWriter.delete(job.id);
      this.#finishOutcome(claim, settled);
    };
    if (!isDetached) return this.parts.completer.complete(claim, completion, onWritten);
    claim.markCommitted(job.id);
    // The effects of a handed off job follow when its claim holder ends it.
    if (isHandedOff) this.#finishOutcome(claim);
    else onWritten(outcome);
  }

  /** @param settled the queue is not idle before that */
  #finishOutcome(claim: ActiveClaim, settled?: Promise<void>): void {
    if (claim.isDone) {
      this.parts.ownClaims.remove(claim);
      this.parts.completer.deleteIfEmptied(claim);
    }
    if (settled) void settled.then(() => this.#endOutcome());
    else this.#endOutcome();
  }

  #endOutcome(): void {
    this.#pendingOutcomes--;
    this.onOutcomeDone();
  }

  /** The times are null if the handler was not called. Returns the promise of `followOutcome`. */
  #onCommitted(
    job: ClaimedJob,
    ranMs: number | null,
    startedAtMs: number | null,
    outcome: Outcome,
    result: unknown,
  ): Promise<void> | undefined {
    const { events, instrumentations } = this.parts;
    if (events.hasAnyListener) events.emitOutcome(job, outcome, result, ranMs);
    instrumentations.ended(job, outcome, ranMs, startedAtMs);
    logFailure(job, outcome, this.parts);
    if (outcome.kind === 'snooze' && outcome.signal !== undefined) void this.#wakeIfSignalled(job, outcome.signal);
    return followOutcome(job, outcome, this.options.deadLetter, this.parts);
  }

  /** The signal may have come while the job returned to its queue. If this fails, the pruner wakes the job. */
  async #wakeIfSignalled({ id, queue }: ClaimedJob, signal: string): Promise<void> {
    const woken = await this.parts.stores.steps.wakeWaiting(signal, id).catch(() => []);
    if (woken.length > 0) this.parts.announce(queue, woken.length);
  }

  /** @param unconfirmed undefined if the lease was lost */
  #onNotWritten(job: ClaimedJob, claim: ActiveClaim, ranMs: number | null, unconfirmed: Outcome | undefined): void {
    const { logger, workerId } = this.parts;
    if (unconfirmed) this.#logUnconfirmed(job, claim, unconfirmed, ' Its attempt counts then.');
    else if (claim.logLossOnce())
      logger.warn(new LeaseLostError(job.id, job.queue).message, jobLogParams(job, workerId));
    this.parts.events.emitLost(job, ranMs);
    this.parts.instrumentations.leaseLost(job);
  }

  #logUnconfirmed(job: ClaimedJob, claim: ActiveClaim, { kind }: Outcome, consequence = ''): void {
    if (!claim.logLossOnce()) return;
    this.parts.logger.warn(
      `The database has not confirmed the outcome "${OUTCOME_OF[kind]}" of job ${job.id} of queue "${job.queue}". If it is not ` +
        `stored, another run begins when the lease of the job ends.${consequence} \`npx nestjs-sql-queue doctor\` finds ` +
        `locks, long transactions and settings that delay commits.`,
      jobLogParams(job, this.parts.workerId),
    );
  }
}

/** Those who wait for an outcome. */
export interface OutcomeFollowers {
  readonly waitNotifier: { notifyEnded(job: Pick<ClaimedJob, 'id' | 'overrides'>): void };
  readonly settler: Pick<FlowSettler, 'settle' | 'recheck'>;
  /** The queue has further waiting jobs. */
  readonly announce: (queue: string, jobs: number) => void;
  readonly expectDue: (queue: string, ms: number) => void;
}

/**
 * Call it after the outcome of a run, of an owner or of a rescue has committed. It notifies the callers who wait for the job,
 * and the workers of its queue and of its dead letter. If its flow goes on, it returns a promise, which resolves when that is
 * stored.
 */
export function followOutcome(
  job: Pick<ClaimedJob, 'id' | 'queue' | 'overrides' | 'malformed'>,
  outcome: Outcome,
  deadLetter: string | false,
  { waitNotifier, settler, announce, expectDue }: OutcomeFollowers,
): Promise<void> | undefined {
  const { id, queue, overrides } = job;
  const isFinal = isFinalOutcome(outcome);
  if (isFinal) waitNotifier.notifyEnded({ id, overrides });
  if (isClaimableAtOnce(outcome)) announce(queue, 1);
  else if (outcome.kind === 'retry' || outcome.kind === 'snooze') expectDue(queue, outcome.delayMs);
  if (outcome.kind === 'dead' && deadLetter) announce(deadLetter, 1);
  // The jobs that it needs may have ended while it was being blocked.
  if (outcome.kind === 'block') return settler.recheck([id]);
  return isFinal && mayBeInFlow(job) ? settler.settle([id]) : undefined;
}

function isWritten(written: WrittenOutcome): written is Outcome {
  return typeof written === 'object';
}

function isKept({ job, retentionMs }: Completion, written: Outcome): boolean {
  return jobRetentionMs(job.overrides, written.kind === 'complete', retentionMs) !== false;
}

type LoggedJob = Pick<ClaimedJob, 'id' | 'queue' | 'name' | 'attempt' | 'maxAttempts'> & { headers?: string | null };

/** Logs a failed attempt after the commit, unless its queue has `logFailures: false`. Never logs a payload. */
export function logFailure(
  job: LoggedJob,
  outcome: Outcome,
  { logger, optionsFor, workerId }: Pick<WorkerParts, 'logger' | 'optionsFor'> & { workerId?: string | null },
): void {
  if (!('error' in outcome) || !outcome.error || !optionsFor(job.queue).logFailures) return;
  const { attempt, maxAttempts, queue, name, id } = job;
  const message = logText(outcome.error.message);
  const stack = logStack(outcome.error.stack, outcome.error.message);
  const params = jobLogParams(job, workerId);
  const subject = `Job ${id} "${name}" of queue "${queue}"`;
  const error = `${outcome.error.name}: ${message}`;
  if (outcome.kind === 'dead') {
    logger.error(`${subject} is dead after attempt ${attempt} of ${maxAttempts}: ${error}`, stack, params);
  } else if (outcome.kind === 'retry') {
    const delay = outcome.delayMs === 0 ? 'at once' : `in ${outcome.delayMs / 1_000} s`;
    logger.warn(`${subject} failed in attempt ${attempt} of ${maxAttempts}, to be retried ${delay}: ${error}`, params);
    if (stack !== undefined) logger.debug(stack, params);
  } else if (outcome.kind === 'complete') {
    logger.warn(`${subject} is completed, but its result was not kept: ${message}`, params);
  } else logger.warn(message, params);
}
