import type { EntityManager } from 'typeorm';
import {
  hasCode,
  JobTimeoutError,
  LeaseLostError,
  MalformedJobError,
  PayloadInvalidError,
  UnrecoverableError,
} from '../job/errors.js';
import type { ClaimedJob } from '../job/job.js';
import { afterError, type Outcome } from '../job/outcome.js';
import { encodeJson } from '../job/json.js';
import { checkPayload, checkSize, completion } from '../job/payload.js';
import type { ResolvedQueueOptions } from '../job/queue-options.js';
import { randomId } from '../job/random-id.js';
import { readHeaders } from '../job/read-columns.js';
import { readableError, storedError } from '../job/stored-error.js';
import { after, type MaybeLater } from '../job/user-rule.js';
import type { JobStore, Settlement } from '../store/job-store.js';
import { snooze } from '../job/snooze.js';
import type { Clock } from '../time/clock.js';
import { ended, type AttemptEnd } from './attempt-end.js';
import type { HeldClaim } from './held-claim.js';
import { JobContext, JobVerdict, type HandedOff, type JobActions, type Verdict } from './job-context.js';
import type { JobLogger } from './job-logger.js';
import type { Traces } from './traces.js';

type Completion = ReturnType<typeof completion>;

/** What every attempt of a worker needs. */
export interface AttemptParts {
  readonly workerId: string;
  readonly store: JobStore;
  readonly clock: Clock;
  readonly logger: JobLogger;
  readonly random: () => number;
  /** Undefined where nobody shall see what runs say of themselves. */
  readonly traces?: Traces | undefined;
}

/** One attempt of one job: what its handler is given, and what follows from what the handler does. */
export class Attempt implements JobActions {
  // Made when somebody asks for the signal, or has a reason to abort it: most handlers never look.
  #abort: AbortController | undefined;
  #verdict: Outcome | undefined;
  #committed: AttemptEnd | undefined;
  #transactionLost: Error | undefined;
  /** What the first failure of the run has come to. */
  #failure: MaybeLater<AttemptEnd> | undefined;
  #handedOff = false;
  #departures = 0;
  #isOver = false;

  /** @param begunAt by the monotonic clock */
  constructor(
    readonly claim: HeldClaim,
    readonly job: ClaimedJob,
    private readonly options: ResolvedQueueOptions,
    private readonly parts: AttemptParts,
    private readonly begunAt: number,
  ) {}

  get ranMs(): number {
    return Math.round(this.parts.clock.monotonic() - this.begunAt);
  }

  /** The job has been completed in its own transaction, or handed off: what becomes of the claim is nothing to it. */
  get hasLeft(): boolean {
    return this.#committed !== undefined || this.#handedOff;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get #controller(): AbortController {
    return (this.#abort ??= new AbortController());
  }

  /** Tells the handler to end. Its outcome stays its own, but for a job that shall be released or cancelled. */
  get isAborted(): boolean {
    return this.#controller.signal.aborted;
  }

  abort(reason: Error): void {
    this.#controller.abort(reason);
  }

  /** What the handler is given. Throws where the payload is no good, and the job is dead then: it would be as wrong again. */
  context(startedAt: Date): JobContext | Promise<JobContext> {
    const { queue, payload, headers } = this.job;
    try {
      const parsed: unknown = JSON.parse(payload);
      const read = readHeaders(headers);
      if ('problem' in read) throw new MalformedJobError(this.job.id, queue, 'headers', read.problem);
      const parsedHeaders = read.headers;
      if (!this.options.schema) return this.#contextOf(parsed, parsedHeaders, startedAt);
      return checkPayload(queue, parsed, this.options).then(
        (checked) => this.#contextOf(checked, parsedHeaders, startedAt),
        (error: unknown) => this.#refusePayload(error),
      );
    } catch (error) {
      return this.#refusePayload(error);
    }
  }

  /** What becomes of the job whose handler returned. */
  returned(result: unknown): MaybeLater<AttemptEnd> {
    if (this.#gone) return this.#gone;
    if (this.#verdict) return ended(this.#verdict);
    // A handler that catches the error must not complete a job whose effects are gone.
    if (this.#transactionLost) return this.threw(this.#transactionLost);
    const outcome = this.#completion(result);
    return ended(outcome, outcome.error ? undefined : result);
  }

  /** What becomes of the job whose handler threw. */
  threw(given: unknown): MaybeLater<AttemptEnd> {
    const thrown = readableError(given);
    if (this.#gone) {
      const { message, stack } = storedError(thrown);
      const how = this.#handedOff ? 'been handed off' : 'completed in its transaction';
      this.parts.logger.error(`Job ${this.job.id} had ${how}, then its handler threw: ${message}`, stack);
      return this.#gone;
    }
    if (this.#verdict) return ended(this.#verdict);
    const reason = this.#abort?.signal.reason as { code?: string } | undefined;
    if (reason?.code === 'SHUTDOWN') return ended({ kind: 'release' });
    if (reason?.code === 'JOB_CANCELLED') return ended({ kind: 'cancel' });
    // What another job of the same batch was left with.
    const error = thrown instanceof JobVerdict ? new Error(`Its batch ended early: ${thrown.message}`) : thrown;
    return (this.#failure ??= after(afterError(this.job, error, this.options.retry, this.parts), (outcome) =>
      ended(outcome),
    ));
  }

  /** What becomes of the job whose handler took too long; it is told to end. */
  expired(limitMs: number): MaybeLater<AttemptEnd> {
    const error = new JobTimeoutError(this.job.id, this.job.queue, limitMs);
    this.abort(error);
    return this.#gone ?? this.threw(error);
  }

  /** What becomes of the job whose handler nobody waits for any more. */
  abandoned(outcome: Outcome): AttemptEnd {
    return this.#gone ?? ended(outcome);
  }

  /** Whatever the handler says from here on is not written. Undefined where all it said has been. */
  finish(): Promise<void> | undefined {
    this.#isOver = true;
    return this.parts.traces?.finish(this);
  }

  settlement(outcome: Outcome): Settlement {
    const { deadLetter, retention } = this.options;
    const { completedMs, deadMs } = retention;
    const { job, claim, parts, ranMs } = this;
    const keepMs = outcome.kind === 'complete' ? completedMs : deadMs;
    return { job, claimId: claim.id, workerId: parts.workerId, outcome, ranMs, keepMs, deadLetter };
  }

  #contextOf(payload: unknown, headers: Record<string, string>, startedAt: Date): JobContext {
    const { id, queue, name, attempt, maxAttempts, createdAtMs } = this.job;
    const { logger } = this.parts;
    const createdAt = new Date(createdAtMs);
    return new JobContext(
      { id, queue, name, payload, attempt, maxAttempts, createdAt, startedAt, headers, logger },
      this,
    );
  }

  progress(value: unknown): void {
    const { queue } = this.job;
    const encoded = encodeJson(value);
    if ('problem' in encoded) throw new PayloadInvalidError(queue, `progress: ${encoded.problem}`);
    checkSize(queue, 'progress', encoded.text, this.options.maxPayloadBytes);
    if (!this.#isOver) this.parts.traces?.progress(this, encoded.text);
  }

  log(line: string): void {
    if (!this.#isOver) this.parts.traces?.log(this, line);
  }

  /** The handler is done, so the job is, whether or not its result can be kept. */
  #completion(result: unknown): Completion {
    return completion(this.job.queue, result, this.options.maxPayloadBytes);
  }

  #refusePayload(error: unknown): never {
    const { queue } = this.job;
    const problem = error instanceof SyntaxError ? `expected JSON, got ${error.message}` : (error as Error).message;
    const isTyped = error instanceof PayloadInvalidError || error instanceof MalformedJobError;
    const cause = isTyped ? error : new PayloadInvalidError(queue, problem);
    this.#verdict = { kind: 'dead', error: storedError(cause) };
    throw cause;
  }

  /** The end of a run that has ended its job itself. */
  get #gone(): AttemptEnd | undefined {
    const end = this.#committed ?? (this.#handedOff ? ended({ kind: 'complete', result: null }) : undefined);
    return end && { ...end, committed: true, handedOff: this.#handedOff };
  }

  decide(verdict: Verdict): void {
    if (verdict.kind === 'put off') this.#verdict = snooze(verdict.until, this.parts.clock.now().getTime());
    else if (verdict.kind !== 'discard') this.#verdict = verdict;
    else this.#verdict = { kind: 'dead', error: storedError(new UnrecoverableError(verdict.reason)) };
  }

  async transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const { parts } = this;
    this.#depart('transaction');
    let completed!: Completion;
    const completing = parts.store.completeWith(async (manager) => {
      const done = await work(manager);
      completed = this.#completion(done);
      return { value: done, settlement: this.settlement(completed) };
    });
    const value = await completing.catch((error: unknown) => {
      if (hasCode(error, 'TRANSACTION_LOST')) this.#transactionLost = error as Error;
      throw error;
    });
    this.#committed = ended(completed, completed.error ? undefined : value);
    return value;
  }

  async handOff(leaseMs: number): Promise<HandedOff> {
    const { job, claim, parts } = this;
    this.#depart('handOff');
    const to = randomId();
    const { deadLetter } = this.options;
    const request = { job, workerId: parts.workerId, from: claim.id, to, leaseMs, deadLetter };
    const isOurs = await parts.store.handOff(request).catch((error: unknown) => {
      if (hasCode(error, 'JOB_CANCELLED')) this.abort(error as Error);
      throw error;
    });
    if (!isOurs) throw new LeaseLostError(job.id, job.queue);
    this.#handedOff = true;
    return { id: job.id, token: String(to) };
  }

  /** Whatever becomes of the commit: from here on the claim may be without this job. */
  #depart(how: 'transaction' | 'handOff'): void {
    if (this.#departures++ > 0) {
      throw new Error(
        `job.${how}() ends what this run has to say of job ${this.job.id}: expected one transaction() or handOff() per run.`,
      );
    }
    this.#abort?.signal.throwIfAborted();
    this.claim.transacted = true;
  }
}
