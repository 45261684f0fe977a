import type { EntityManager } from 'typeorm';
import { sharedAbortController } from '../../common/abort.js';
import { inRootContext } from '../../common/async-context.js';
import type { Clock } from '../../common/clock.js';
import type { JobLogger } from '../../common/logger.js';
import { andThen, type MaybePromise } from '../../common/maybe-promise.js';
import { attemptLogger, logLateError } from '../../job/log-params.js';
import { hasCode, JobTimeoutError } from '../../job/errors.js';
import type { ClaimedJob } from '../../job/job.js';
import { COMPLETED, completeOutcome, outcomeAfterError, type Completed, type Outcome } from '../../job/outcome.js';
import { decodeWith, encodeProgress } from '../../job/job-content.js';
import type { ResolvedQueueOptions } from '../../job/queue-options.js';
import { readableError, storedError } from '../../job/stored-error.js';
import type { Completion } from '../../store/rows/completion.js';
import type { ActiveClaim } from '../queue/active-claim.js';
import type { AttemptEnd, AttemptParts } from './attempt-parts.js';
import { Detachment, secondCallError } from './detachment.js';
import {
  HandlerExit,
  toOutcome,
  type HandedOffJob,
  type HandlerOutcome,
  type HandlerActions,
} from './handler-actions.js';
import { JobCalls } from './job-calls.js';
import { JobChildren } from './job-children.js';
import { JobContext, outcomeOfUnreadable, toContextFields, toJobInput, type JobInput } from './job-context.js';
import { JobSteps, stepKeyOf } from './job-steps.js';

/** One attempt of one job: creates the context for its handler, and decides the outcome. */
export class Attempt implements HandlerActions {
  // Created on first use, because most handlers never read the signal.
  #abortController: AbortController | undefined;
  // Created on first use, because most handlers call nothing.
  #calls: JobCalls | undefined;
  #areCallsClosed = false;
  /** A handler has its context, or is about to get it. */
  #isCalled = false;
  #decidedOutcome: Outcome | undefined;
  /** The decoded payload, until it is parsed. */
  #text: string | undefined;
  /** Set if the payload or the headers cannot be read. */
  #unreadable: { readonly error: unknown; readonly outcome: Outcome } | undefined;
  #detachment: Detachment | undefined;
  /** The end after the first error. Later errors of the attempt do not change it. */
  #failure: MaybePromise<AttemptEnd> | undefined;
  #thrown: unknown;
  #isOver = false;
  #hasReported = false;
  #steps: JobSteps | undefined;
  #children: JobChildren | undefined;
  #logger: JobLogger | undefined;

  /** @param startedAtMs by the monotonic clock */
  constructor(
    readonly claim: ActiveClaim,
    private readonly claimed: ClaimedJob,
    private readonly options: ResolvedQueueOptions,
    private readonly parts: AttemptParts,
    readonly startedAtMs: number,
  ) {}

  /** The job as it was claimed, and in the flow that it has joined since. Its end must name it. */
  get job(): ClaimedJob {
    const flow = this.#children?.flow;
    if (flow === undefined) return this.claimed;
    return { ...this.claimed, overrides: { ...this.claimed.overrides, flow } };
  }

  get ranMs(): number {
    return Math.round(this.parts.clock.monotonic() - this.startedAtMs);
  }

  get timeoutMs(): number | false {
    return timeoutOf(this.job, this.options);
  }

  /** The job was completed in the handler's transaction or handed off, so it no longer depends on the claim. */
  get isDetached(): boolean {
    return this.#detachedEnd !== undefined;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get #controller(): AbortController {
    return (this.#abortController ??= sharedAbortController());
  }

  get isAborted(): boolean {
    return this.#controller.signal.aborted;
  }

  get abortCode(): string | undefined {
    return (this.#abortController?.signal.reason as { code?: string } | undefined)?.code;
  }

  /** The handler still decides the outcome, unless the reason is a shutdown or a cancellation. */
  abort(reason: Error): void {
    // Calls the listeners of the handler, which are no part of the request that cancels the job.
    inRootContext(() => this.#controller.abort(reason));
  }

  /** Never throws or rejects: `createContext` throws the error. Codecs and the blob store have time limits of their own. */
  readPayload(): MaybePromise<void> {
    const { queue, name, payload } = this.claimed;
    const text = this.#read(() => decodeWith(this.options.codec, payload, { what: 'payload', queue, name }));
    return text instanceof Promise ? text.then((decoded) => void (this.#text = decoded)) : void (this.#text = text);
  }

  /**
   * Call it after `readPayload`. Throws or rejects if the payload or the headers cannot be read, or if the attempt was aborted
   * meanwhile: a handler must not start for a job that is cancelled or released.
   */
  createContext(startedAt: Date): MaybePromise<JobContext> {
    const text = this.#text;
    // The text of a long payload must not stay in memory while the handler runs.
    this.#text = undefined;
    const input = text === undefined ? undefined : this.#read(() => toJobInput(this.job, text, this.options));
    if (input instanceof Promise) return input.then((checked) => this.#newContext(checked, startedAt));
    return this.#newContext(input, startedAt);
  }

  endOnReturn(result: unknown): MaybePromise<AttemptEnd> {
    return this.#afterHandler(() => this.#endOnReturn(result));
  }

  endOnThrow(value: unknown): MaybePromise<AttemptEnd> {
    return this.#afterHandler(() => this.#endOnThrow(value));
  }

  /** The handler has ended. A transaction of it that is about to commit decides first whether the job is completed. */
  #afterHandler(end: () => MaybePromise<AttemptEnd>): MaybePromise<AttemptEnd> {
    this.#closeCalls();
    const committing = this.#detachment?.committing;
    return committing && !this.#detachedEnd ? committing.then(end) : this.#afterFanOut(end);
  }

  /** The completion would wait for the lock of a fan-out anyway, and then it would not name the flow. */
  #afterFanOut(end: () => MaybePromise<AttemptEnd>): MaybePromise<AttemptEnd> {
    const storing = this.#children?.storing;
    return storing ? storing.then(end) : end();
  }

  #closeCalls(): void {
    this.#areCallsClosed = true;
    this.#calls?.close();
  }

  #endOnReturn(result: unknown): MaybePromise<AttemptEnd> {
    if (this.#detachedEnd) return this.#detachedEnd;
    const forgottenError = this.#calls?.forgottenError;
    if (!forgottenError && this.#decidedOutcome) return toAttemptEnd(this.#decidedOutcome);
    // A handler that catches the error must not complete a job whose transaction was lost.
    const error = forgottenError ?? this.#detachment?.transactionLostError;
    if (error) return this.#endOnThrow(error);
    // The handler has succeeded, so the job is completed even if its result cannot be stored.
    return endOfCompleted(completeOutcome(this.job.queue, result, this.options, this.timeoutMs), result);
  }

  #endOnThrow(value: unknown): MaybePromise<AttemptEnd> {
    const thrown = readableError(value);
    if (this.#detachedEnd) {
      logLateError(this.logger, this.job, this.#detachedEnd.isHandedOff, storedError(thrown));
      return this.#detachedEnd;
    }
    // A sleep that runs beside the handler, or beside another step, has not ended its run.
    const isMisused = hasCode(thrown, 'STEP_NOT_ALLOWED') || this.#calls?.forgottenError?.cause instanceof HandlerExit;
    if (this.#decidedOutcome && !isMisused) return toAttemptEnd(this.#decidedOutcome);
    // No handler was called for a job whose lease was lost while its payload was read. Its outcome counts only if no other
    // worker has the job.
    const isUncalled = this.abortCode === 'LEASE_LOST' && !this.#isCalled;
    if (this.abortCode === 'SHUTDOWN' || isUncalled) return toAttemptEnd({ kind: 'release' });
    if (this.abortCode === 'JOB_CANCELLED') return toAttemptEnd({ kind: 'cancel' });
    if (this.#unreadable) return toAttemptEnd(this.#unreadable.outcome);
    // Another job of the batch decided its own outcome. That ended the call for all of them.
    this.#thrown ??= thrown;
    const error = thrown instanceof HandlerExit ? new Error(`Its batch ended early: ${thrown.message}`) : thrown;
    if (this.#failure) return this.#failure;
    const { retry, codec } = this.options;
    const outcome = outcomeAfterError(this.job, error, retry, { ...this.parts, logger: this.logger, codec });
    return (this.#failure = andThen(outcome, (decided) => toAttemptEnd(decided)));
  }

  /** The first error of the attempt; undefined if it has not failed. */
  get thrown(): unknown {
    return this.#thrown;
  }

  endOnTimeout(limitMs: number): MaybePromise<AttemptEnd> {
    const error = new JobTimeoutError(this.job.id, this.job.queue, limitMs);
    this.abort(error);
    this.#closeCalls();
    return this.#detachedEnd ?? this.#afterFanOut(() => this.#endOnThrow(error));
  }

  /** The handler may still run. */
  endWithoutHandler(outcome: Outcome): AttemptEnd {
    this.#closeCalls();
    return this.#detachedEnd ?? toAttemptEnd(outcome);
  }

  /** Ignores later progress and logs. Resolves when the earlier ones are written; undefined if there are none. */
  finish(): Promise<void> | undefined {
    this.#isOver = true;
    return this.#hasReported ? this.parts.jobLogWriter?.finish(this) : undefined;
  }

  /** Whether the handler has reported progress or log lines. */
  get hasReported(): boolean {
    return this.#hasReported;
  }

  completionOf(outcome: Outcome): Completion {
    const { job, claim, ranMs } = this;
    const { workerId, clock } = this.parts;
    return toCompletion({ job, claimId: claim.id, workerId, outcome, ranMs }, this.options, clock);
  }

  progress(value: unknown): void {
    const text = encodeProgress(this.job.queue, value, this.options);
    if (this.#isOver) return;
    this.#hasReported = true;
    this.parts.jobLogWriter?.progress(this, text);
  }

  get calls(): JobCalls {
    return (this.#calls ??= new JobCalls(this.job, this.#areCallsClosed));
  }

  get steps(): JobSteps {
    const { job, claim, options, parts, calls } = this;
    return (this.#steps ??= new JobSteps(job, claim.id, parts.stores.steps, options, this.signal, calls));
  }

  get children(): JobChildren {
    return (this.#children ??= new JobChildren(this.job, this.claim.id, () => this.steps, this.parts));
  }

  stepKey(name: string): string {
    return stepKeyOf(this.job, name);
  }

  log(line: string): void {
    if (this.#isOver) return;
    this.#hasReported = true;
    this.parts.jobLogWriter?.log(this, line);
  }

  decide(outcome: HandlerOutcome): void {
    this.#decidedOutcome = toOutcome(outcome, this.parts.clock.now().getTime());
  }

  async transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.#detach('transaction').transaction(work);
  }

  async handOff(leaseMs: number): Promise<HandedOffJob> {
    return this.#detach('handOff')
      .handOff(leaseMs)
      .catch((error: unknown) => {
        if (hasCode(error, 'JOB_CANCELLED')) this.abort(error as Error);
        throw error;
      });
  }

  /** Marks the claim first, because a commit whose answer is lost also takes the job out of the claim. */
  #detach(method: 'transaction' | 'handOff'): Detachment {
    if (this.#detachment) throw secondCallError(method, this.job.id);
    this.#detachment = new Detachment(this, this.options, this.parts);
    this.#abortController?.signal.throwIfAborted();
    this.claim.markDetached();
    return this.#detachment;
  }

  get #detachedEnd(): AttemptEnd | undefined {
    return this.#detachment?.end;
  }

  get logger(): JobLogger {
    return (this.#logger ??= attemptLogger(this.parts.logger, this.job, this.parts.workerId));
  }

  /** Undefined if the input cannot be read. */
  #read<T>(read: () => MaybePromise<T>): MaybePromise<T | undefined> {
    try {
      const result = read();
      return result instanceof Promise ? result.catch((error: unknown) => this.#markUnreadable(error)) : result;
    } catch (error) {
      return this.#markUnreadable(error);
    }
  }

  #markUnreadable(error: unknown): undefined {
    this.#unreadable = { error, outcome: outcomeOfUnreadable(error) };
  }

  #newContext(input: JobInput | undefined, startedAt: Date): JobContext {
    if (!input) throw this.#unreadable!.error;
    this.#abortController?.signal.throwIfAborted();
    this.#isCalled = true;
    return new JobContext(toContextFields(this.job, input, startedAt), this);
  }
}

export function toAttemptEnd(outcome: Outcome, result?: unknown): AttemptEnd {
  return { outcome, result, isDetached: false, isHandedOff: false };
}

const COMPLETED_WITHOUT_RESULT = toAttemptEnd(COMPLETED);

/** @param outcome that of the result, which may not be storable */
function endOfCompleted(outcome: MaybePromise<Completed>, result: unknown): MaybePromise<AttemptEnd> {
  if (outcome === COMPLETED) return COMPLETED_WITHOUT_RESULT;
  if (outcome instanceof Promise) return endOnceEncoded(outcome, result);
  return toAttemptEnd(outcome, outcome.error ? undefined : result);
}

async function endOnceEncoded(outcome: Promise<Completed>, result: unknown): Promise<AttemptEnd> {
  return endOfCompleted(await outcome, result);
}

/** The longest time of a run; false: no limit. */
function timeoutOf({ overrides }: ClaimedJob, { timeoutMs }: ResolvedQueueOptions): number | false {
  return overrides?.timeoutMs ?? timeoutMs;
}

/** Adds the parts of a completion that depend on the options of its queue. */
export function toCompletion(
  { job, claimId, workerId, outcome, ranMs }: Pick<Completion, 'job' | 'claimId' | 'workerId' | 'outcome' | 'ranMs'>,
  options: ResolvedQueueOptions,
  clock: Clock,
): Completion {
  const { deadLetter, retention } = options;
  const retentionMs = outcome.kind === 'complete' ? retention.completedMs : retention.deadMs;
  const endedAt = 'error' in outcome && outcome.error ? clock.now() : undefined;
  // A spread of the given fields costs 2 µs a job.
  const timeoutMs = timeoutOf(job, options);
  return { job, claimId, workerId, outcome, ranMs, endedAt, retentionMs, deadLetter, timeoutMs };
}
