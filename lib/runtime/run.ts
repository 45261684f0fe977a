import { checkPayload, encodeResult } from '../job/payload.js';
import { JobTimeoutError, PayloadInvalidError, UnrecoverableError } from '../job/errors.js';
import type { ClaimedJob } from '../job/job.js';
import { afterError, type Outcome } from '../job/outcome.js';
import type { ResolvedQueueOptions } from '../job/queue-options.js';
import { storedError } from '../job/stored-error.js';
import type { JobStore, Settlement } from '../store/job-store.js';
import type { Clock } from '../time/clock.js';
import type { HeldClaim } from './held-claim.js';
import { JobContext } from './job-context.js';
import type { JobLogger } from './job-logger.js';

/** Runs one job. What it returns is the job's result; what it throws fails the attempt. */
export type Handler = (job: JobContext) => unknown;

/** What every run of a worker needs. */
export interface RunParts {
  readonly workerId: string;
  readonly store: JobStore;
  readonly clock: Clock;
  readonly logger: JobLogger;
  readonly random: () => number;
}

/** How a run ended. */
export interface RunEnd {
  readonly outcome: Outcome;
  readonly result: unknown;
  /** The run completed the job itself, in its own transaction: nothing is left to settle. */
  readonly committed: boolean;
}

/** One attempt of one job, from its first moment to its outcome. */
export class Run {
  readonly #abort = new AbortController();
  readonly #startedAt: number;
  readonly #forced: Promise<RunEnd>;
  #force!: (end: RunEnd) => void;
  #verdict: Outcome | undefined;
  #committed: { result: unknown } | undefined;
  #transactions = 0;

  constructor(
    readonly claim: HeldClaim,
    readonly job: ClaimedJob,
    private readonly options: ResolvedQueueOptions,
    private readonly parts: RunParts,
  ) {
    this.#startedAt = parts.clock.monotonic();
    this.#forced = new Promise((resolve) => (this.#force = resolve));
  }

  get ranMs(): number {
    return Math.round(this.parts.clock.monotonic() - this.#startedAt);
  }

  /** Tells the handler to end. Its outcome stays its own, but for a job that shall be released or cancelled. */
  abort(reason: Error): void {
    this.#abort.abort(reason);
  }

  /** Ends the run without its handler, which may go on in vain: the fence keeps it from doing harm. */
  end(outcome: Outcome): void {
    this.#force({ outcome, result: undefined, committed: false });
  }

  async outcome(handler: Handler): Promise<RunEnd> {
    const over = new AbortController();
    try {
      return await Promise.race([this.#handle(handler), this.#forced, ...this.#timeout(over.signal)]);
    } finally {
      over.abort();
    }
  }

  async #handle(handler: Handler): Promise<RunEnd> {
    try {
      const context = new JobContext(await this.#contextParts());
      const result = await handler(context);
      if (this.#committed) return this.#completed();
      if (this.#verdict) return this.#ended(this.#verdict);
      const encoded = encodeResult(this.job.queue, result, this.options.maxPayloadBytes);
      return { outcome: { kind: 'complete', result: encoded }, result, committed: false };
    } catch (thrown) {
      return this.#failed(thrown);
    }
  }

  #failed(thrown: unknown): RunEnd {
    if (this.#committed) {
      const { message, stack } = storedError(thrown);
      this.parts.logger.error(
        `Job ${this.job.id} had completed in its transaction, then its handler threw: ${message}`,
        stack,
      );
      return this.#completed();
    }
    if (this.#verdict) return this.#ended(this.#verdict);
    const reason = this.#abort.signal.reason as { code?: string } | undefined;
    if (reason?.code === 'SHUTDOWN') return this.#ended({ kind: 'release' });
    if (reason?.code === 'JOB_CANCELLED') return this.#ended({ kind: 'cancel' });
    return this.#ended(afterError(this.job, thrown, this.options.retry, this.parts.random));
  }

  #completed(): RunEnd {
    return { outcome: { kind: 'complete', result: null }, result: this.#committed!.result, committed: true };
  }

  #ended(outcome: Outcome): RunEnd {
    return { outcome, result: undefined, committed: false };
  }

  /** At most one promise: no timer is set where there is no timeout. */
  #timeout(over: AbortSignal): Promise<RunEnd>[] {
    const limitMs = this.job.overrides?.timeoutMs ?? this.options.timeoutMs;
    if (limitMs === false) return [];
    return [this.#expire(limitMs, over)];
  }

  async #expire(limitMs: number, over: AbortSignal): Promise<RunEnd> {
    await this.parts.clock.sleep(limitMs, over);
    // Over: the race is decided, and nobody hears this answer.
    if (over.aborted) return this.#forced;
    const error = new JobTimeoutError(this.job.id, this.job.queue, limitMs);
    this.abort(error);
    return this.#ended(afterError(this.job, error, this.options.retry, this.parts.random));
  }

  async #contextParts() {
    const { job, parts } = this;
    return {
      id: job.id,
      queue: job.queue,
      name: job.name,
      payload: await this.#payload(),
      attempt: job.attempt,
      maxAttempts: job.maxAttempts,
      enqueuedAt: new Date(job.createdAtMs),
      startedAt: parts.clock.now(),
      headers: (job.headers === null ? {} : JSON.parse(job.headers)) as Record<string, string>,
      signal: this.#abort.signal,
      logger: parts.logger,
      transaction: <T>(work: Parameters<JobContext['transaction']>[0]) => this.#transact(work) as Promise<T>,
      decide: (verdict: Outcome | { kind: 'discard'; reason: string }) => this.#decide(verdict),
    };
  }

  async #payload(): Promise<unknown> {
    const { queue, payload } = this.job;
    try {
      return await checkPayload(queue, JSON.parse(payload), this.options);
    } catch (error) {
      const problem = error instanceof SyntaxError ? `expected JSON, got ${error.message}` : (error as Error).message;
      const cause = error instanceof PayloadInvalidError ? error : new PayloadInvalidError(queue, problem);
      // It would be as wrong the next time.
      this.#verdict = { kind: 'dead', error: storedError(cause) };
      throw cause;
    }
  }

  #decide(verdict: Outcome | { kind: 'discard'; reason: string }): void {
    if (verdict.kind !== 'discard') this.#verdict = verdict;
    else this.#verdict = { kind: 'dead', error: storedError(new UnrecoverableError(verdict.reason)) };
  }

  async #transact<T>(work: (manager: never) => Promise<T>): Promise<T> {
    const { job, claim, parts } = this;
    if (this.#transactions++ > 0) {
      throw new Error(`job.transaction() completes the job, so it can be called once per run (job ${job.id}).`);
    }
    this.#abort.signal.throwIfAborted();
    // Whatever becomes of the commit: from here on the claim may be without this job.
    claim.transacted = true;
    const value = await parts.store.completeWith(async (manager) => {
      const done = await work(manager as never);
      const result = encodeResult(job.queue, done, this.options.maxPayloadBytes);
      return { value: done, settlement: this.settlement({ kind: 'complete', result }) };
    });
    this.#committed = { result: value };
    return value;
  }

  settlement(outcome: Outcome): Settlement {
    const { completedMs, deadMs } = this.options.retention;
    const keepMs = outcome.kind === 'complete' ? completedMs : deadMs;
    return {
      job: this.job,
      claimId: this.claim.id,
      workerId: this.parts.workerId,
      outcome,
      ranMs: this.ranMs,
      keepMs,
    };
  }
}
