import { inRootContext } from '../../common/async-context.js';
import { callAfter, type Clock } from '../../common/clock.js';
import { batchesOf } from '../../common/lists.js';
import type { MaybePromise } from '../../common/maybe-promise.js';
import { JobCancelledError, LeaseLostError } from '../../job/errors.js';
import type { EndedRun } from '../../job/instrumentation.js';
import type { ClaimedJob } from '../../job/job.js';
import { isPoisonCandidate, OUTCOME_OF, type Outcome } from '../../job/outcome.js';
import type { ResolvedQueueOptions } from '../../job/queue-options.js';
import { storedError } from '../../job/stored-error.js';
import type { Instrumentations } from '../../instrumentation/instrumentations.js';
import type { OutcomeEffects } from '../complete/outcome-effects.js';
import { Attempt } from '../run/attempt.js';
import type { AttemptEnd } from '../run/attempt-parts.js';
import type { BatchHandler, Handler, HandlerEntry, QueueHandlers } from '../run/handler-table.js';
import type { JobContext } from '../run/job-context.js';
import type { ActiveClaim, BufferedJob, PrefetchBuffer } from './active-claim.js';
import type { QueueSlots } from './plan.js';
import type { WorkerContext } from './worker-context.js';

// One payload after the other would wait for the time limit of each if the service is down. All at once, those of a large
// batch may take each other so much time that none is read.
const READS_AT_ONCE = 50;

/** Starts the prefetched jobs of one queue, and ends them early if they are cancelled or lost. */
export class QueueRuns {
  readonly #runs = new Set<Run>();
  /** The latest attempt of each job that runs. */
  readonly #attemptByJob = new Map<number, Attempt>();
  /** The run of a poison candidate. No other run starts beside it. */
  #poisonRun: Run | undefined;
  readonly #handlers: QueueHandlers;
  /** Undefined if none surrounds the calls of handlers. */
  readonly #instrumentations: Instrumentations['ofRuns'];

  /** @param onRunEnd called when a slot is free again */
  constructor(
    private readonly worker: WorkerContext,
    private readonly queue: string,
    private readonly options: ResolvedQueueOptions,
    private readonly buffer: PrefetchBuffer,
    private readonly slots: QueueSlots,
    private readonly outcomeEffects: OutcomeEffects,
    private readonly onRunEnd: (ranMs: number) => void,
  ) {
    this.#handlers = worker.handlers.of(queue);
    this.#instrumentations = worker.instrumentations.ofRuns;
  }

  get isIdle(): boolean {
    return this.#runs.size === 0;
  }

  get isPoisonRunning(): boolean {
    return this.#poisonRun !== undefined;
  }

  get attempts(): Attempt[] {
    return [...this.#runs].flatMap(({ attempts }) => attempts);
  }

  isRunning(claimId: number, jobId: number): boolean {
    return this.attempts.some(({ job, claim }) => job.id === jobId && claim.id === claimId);
  }

  /** How many jobs of this name one call of its handler takes. */
  batchSizeOf(name: string): number {
    return this.#handlerOf(name)?.batch ?? 1;
  }

  /** Starts the first `jobs` jobs of the buffer, in one call of their handler. */
  start(jobs: number, now: number): void {
    const entry = this.#handlerOf(this.buffer.next!.job.name);
    const attempts: Attempt[] = [];
    for (let started = 0; started < jobs; started++) {
      const { claim, job, indexInClaim } = this.buffer.shift();
      claim.start(indexInClaim);
      if (entry) attempts.push(new Attempt(claim, job, this.options, this.worker, now));
      else this.outcomeEffects.snoozeUnhandled(claim, job);
    }
    if (entry) this.#run(attempts, entry, now);
  }

  /** The lease of the claim is lost: other workers own its jobs, or soon will. */
  abandon(claim: ActiveClaim): void {
    this.worker.ownClaims.remove(claim);
    claim.abandon(this.buffer.remove((buffered) => buffered.claim === claim).map(({ job }) => job.id));
    for (const attempt of this.attempts) {
      if (attempt.claim === claim && !attempt.isDetached)
        attempt.abort(new LeaseLostError(attempt.job.id, attempt.job.queue));
    }
  }

  /**
   * Returns false if the job is not here, or is being cancelled already.
   *
   * @param under only the run under this claim; default: every run. A released job can run twice: once under its old claim,
   * and once under its successor
   */
  cancel(jobId: number, under?: ActiveClaim): boolean {
    const isMeant = ({ job, claim }: { job: ClaimedJob; claim: ActiveClaim }) =>
      job.id === jobId && (under ?? claim) === claim;
    const [buffered] = this.buffer.remove(isMeant);
    if (buffered) this.outcomeEffects.completeUnstarted(buffered.claim, buffered.job, { kind: 'cancel' });
    const running = this.attempts.filter((attempt) => isMeant(attempt) && !attempt.isAborted);
    for (const attempt of running) attempt.abort(new JobCancelledError(jobId, this.queue));
    return buffered !== undefined || running.length > 0;
  }

  abort(reason: Error): void {
    for (const run of this.#runs) run.abort(reason);
  }

  /** Releases the jobs that run although their handlers have not ended. */
  release(): void {
    for (const run of this.#runs) run.end({ kind: 'release' });
  }

  /**
   * Returns the jobs that do not run here. A job whose claim was lost can come back while its handler goes on. It returns to
   * its queue for a second, so that another process can run it. A person who releases a job accepts that its handler may
   * go on.
   */
  putOffRunning(jobs: readonly BufferedJob[]): BufferedJob[] {
    return jobs.filter(({ claim, job }) => {
      const running = this.#attemptByJob.get(job.id);
      if (!running || running.abortCode === 'JOB_CANCELLED') return true;
      this.outcomeEffects.snoozeRunning(claim, job);
      return false;
    });
  }

  #handlerOf(name: string): HandlerEntry | undefined {
    return this.#handlers.named.get(name) ?? this.#handlers.fallback;
  }

  #run(attempts: readonly Attempt[], entry: HandlerEntry, now: number): void {
    const { events, clock } = this.worker;
    const run = new Run(attempts, clock, this.#instrumentations);
    this.#runs.add(run);
    if (isPoisonCandidate(attempts[0]!.job)) this.#poisonRun = run;
    this.slots.acquire();
    for (const attempt of attempts) {
      this.#attemptByJob.set(attempt.job.id, attempt);
      if (events.hasAnyListener) events.emitStarted(attempt.job);
    }
    void this.#execute(run, entry, now);
  }

  async #execute(run: Run, entry: HandlerEntry, startedAtMs: number): Promise<void> {
    const ends = await run.execute(entry);
    const ranMs = this.worker.clock.monotonic() - startedAtMs;
    this.#runs.delete(run);
    for (const attempt of run.attempts)
      if (this.#attemptByJob.get(attempt.job.id) === attempt) this.#attemptByJob.delete(attempt.job.id);
    if (this.#poisonRun === run) this.#poisonRun = undefined;
    this.slots.release();
    run.attempts.forEach((attempt, index) => this.outcomeEffects.endAttempt(attempt, ends[index]!));
    this.onRunEnd(ranMs);
  }
}

/** One call of a handler, with one attempt or the attempts of a batch. */
export class Run {
  #resolve!: (ends: readonly AttemptEnd[]) => void;
  #ended!: Promise<readonly AttemptEnd[]>;
  #isDecided = false;
  /** Set if the run has a time limit; called when the run is over. */
  #cancelTimeout: (() => void) | undefined;

  constructor(
    readonly attempts: readonly Attempt[],
    private readonly clock: Clock,
    /** Undefined if none surrounds the calls of handlers. */
    private readonly instrumentations?: Instrumentations['ofRuns'],
  ) {}

  abort(reason: Error): void {
    for (const attempt of this.attempts) attempt.abort(reason);
  }

  /** Ends the run although its handler may go on. The fence rejects the later writes of the handler. */
  end(outcome: Outcome): void {
    this.#markDecided();
    this.#resolve(this.attempts.map((attempt) => attempt.endWithoutHandler(outcome)));
  }

  /** Never rejects. */
  execute(entry: HandlerEntry): Promise<readonly AttemptEnd[]> {
    this.#ended = new Promise((resolve) => (this.#resolve = resolve));
    void inRootContext(() => this.#handle(entry)).then(
      (ends) => this.#decide(ends),
      (error: unknown) => this.#fail(error),
    );
    return this.#ended;
  }

  /** Call it when the payloads are read: a slow codec or blob store must not take the time of the handler. */
  #startTimeout(): void {
    const limitMs = this.#shortestTimeoutMs();
    if (limitMs === false || this.#isDecided) return;
    this.#cancelTimeout = callAfter(this.clock, limitMs, () =>
      this.#decide(this.attempts.map((attempt) => attempt.endOnTimeout(limitMs))),
    );
  }

  /** The handler or the time limit decides, whichever is first. Functions of the options may still delay the end. */
  #decide(ends: readonly MaybePromise<AttemptEnd>[]): void {
    if (this.#isDecided) return;
    this.#markDecided();
    if (ends.every(isDecided)) this.#resolve(ends);
    else Promise.all(ends.map(async (end) => end)).then(this.#resolve, (error: unknown) => this.#fail(error));
  }

  /** An outcome that cannot be decided makes the job dead. It must not end the process as an unhandled rejection. */
  #fail(error: unknown): void {
    this.end({ kind: 'dead', error: storedError(error) });
  }

  #markDecided(): void {
    this.#isDecided = true;
    this.#cancelTimeout?.();
  }

  #handle(entry: HandlerEntry): Promise<readonly MaybePromise<AttemptEnd>[]> {
    return entry.batch === undefined ? this.#handleOne(entry.handle) : this.#handleAll(entry.handle);
  }

  async #handleOne(handle: Handler): Promise<readonly MaybePromise<AttemptEnd>[]> {
    const [attempt] = this.attempts as [Attempt];
    try {
      const reading = attempt.readPayload();
      if (reading instanceof Promise) await reading;
      this.#startTimeout();
      const created = attempt.createContext(this.clock.now());
      const context = created instanceof Promise ? await created : created;
      if (!this.instrumentations) return [attempt.endOnReturn(await handle(context))];
      return [attempt.endOnReturn(await this.#callWithin(this.instrumentations, [context], () => handle(context)))];
    } catch (error) {
      return [attempt.endOnThrow(error)];
    }
  }

  async #handleAll(handle: BatchHandler): Promise<readonly MaybePromise<AttemptEnd>[]> {
    const ends = new Map<Attempt, MaybePromise<AttemptEnd>>();
    const contexts = new Map<Attempt, JobContext>();
    for (const some of batchesOf(this.attempts, READS_AT_ONCE)) {
      if (this.#isDecided) return [];
      const reading = some.map((attempt) => attempt.readPayload()).filter((each) => each instanceof Promise);
      if (reading.length > 0) await Promise.all(reading);
    }
    this.#startTimeout();
    const startedAt = this.clock.now();
    for (const attempt of this.attempts) {
      try {
        const context = attempt.createContext(startedAt);
        contexts.set(attempt, context instanceof Promise ? await context : context);
      } catch (error) {
        ends.set(attempt, attempt.endOnThrow(error));
      }
    }
    // The worker may have released the jobs while the schema checked them.
    if (contexts.size > 0 && !this.#isDecided) {
      const called = [...contexts.keys()];
      const endOf = await this.#callBatchHandler(handle, [...contexts.values()]);
      called.forEach((attempt, index) => ends.set(attempt, endOf(attempt, index)));
    }
    return this.attempts.map((attempt) => ends.get(attempt)!);
  }

  async #callBatchHandler(
    handle: BatchHandler,
    contexts: JobContext[],
  ): Promise<(attempt: Attempt, index: number) => MaybePromise<AttemptEnd>> {
    try {
      const jobs = contexts.length;
      const { instrumentations } = this;
      const returned = await (instrumentations
        ? this.#callWithin(instrumentations, contexts, () => handle(contexts))
        : handle(contexts));
      const results = settledResults(returned, jobs);
      return (attempt, index) => {
        const result = results?.[index];
        if (result?.status === 'rejected') return attempt.endOnThrow(result.reason);
        return attempt.endOnReturn(result?.value);
      };
    } catch (error) {
      return (attempt) => attempt.endOnThrow(error);
    }
  }

  #callWithin(
    instrumentations: NonNullable<Instrumentations['ofRuns']>,
    contexts: readonly JobContext[],
    handle: () => unknown,
  ): Promise<unknown> {
    const jobs = [...contexts];
    const ended = async () => {
      const byId = new Map<number, EndedRun>();
      (await this.#ended).forEach((end, index) => byId.set(this.attempts[index]!.job.id, this.#endOf(end, index)));
      return jobs.map(({ id }) => byId.get(id)!);
    };
    return instrumentations.run({ queue: jobs[0]!.queue, jobs }, handle, ended);
  }

  #endOf({ outcome, isHandedOff }: AttemptEnd, index: number): EndedRun {
    const error = 'error' in outcome && outcome.kind !== 'complete' ? outcome.error : undefined;
    const thrown = error && (this.attempts[index]!.thrown ?? error);
    return { outcome: isHandedOff ? 'handed-off' : OUTCOME_OF[outcome.kind], error, thrown };
  }

  #shortestTimeoutMs(): number | false {
    let limitMs: number | false = false;
    for (const { timeoutMs } of this.attempts) {
      if (timeoutMs !== false) limitMs = limitMs === false ? timeoutMs : Math.min(limitMs, timeoutMs);
    }
    return limitMs;
  }
}

function isDecided(end: MaybePromise<AttemptEnd>): end is AttemptEnd {
  return !(end instanceof Promise);
}

/**
 * The results of single jobs, as `Promise.allSettled` returns them; undefined if the handler returned something else. A
 * job without a result fails, because it may not be done. Too many results fail all jobs, because they match no job for
 * certain.
 */
function settledResults(returned: unknown, jobs: number): readonly PromiseSettledResult<unknown>[] | undefined {
  if (!Array.isArray(returned)) return undefined;
  const entries = Array.from<unknown>(returned);
  const isOutcome = (entry: unknown) => entry === undefined || entry === null || isSettledResult(entry);
  if (!entries.some(isSettledResult) || !entries.every(isOutcome)) return undefined;
  const outcomeCount = entries.filter(isSettledResult).length;
  const problem = `A batch handler answered ${outcomeCount} outcomes, expected one for each of its ${jobs} jobs`;
  if (entries.length > jobs) throw new Error(`${problem}.`);
  return Array.from({ length: jobs }, (_, index) => {
    const entry = entries[index];
    if (isSettledResult(entry)) return entry;
    const message = `${problem}, in their order: there is none for job ${index + 1}.`;
    return { status: 'rejected', reason: new Error(message) };
  });
}

function isSettledResult(value: unknown): value is PromiseSettledResult<unknown> {
  const { status } = (value ?? {}) as { status?: unknown };
  return status === 'fulfilled' || status === 'rejected';
}
