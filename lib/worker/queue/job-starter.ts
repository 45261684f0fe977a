import { JobCancelledError, LeaseLostError } from '../../job/errors.js';
import type { ClaimedJob } from '../../job/job.js';
import { isPoisonCandidate } from '../../job/outcome.js';
import type { ResolvedQueueOptions } from '../../job/queue-options.js';
import type { Instrumentations } from '../../metrics/instrumentations.js';
import type { OutcomeEffects } from '../complete/outcome-effects.js';
import { Attempt } from '../run/attempt.js';
import type { HandlerEntry } from '../run/handler-table.js';
import { Run } from '../run/run.js';
import type { ActiveClaim } from './active-claim.js';
import type { LimitGate } from './limit-gate.js';
import type { BufferedJob, PrefetchBuffer } from './prefetch-buffer.js';
import type { PrefetchLimits } from './prefetch-limits.js';
import type { QueueSlots } from './queue-slots.js';
import type { WorkerContext } from './worker-context.js';

/** The slots of one queue in this process, and the jobs in its prefetch buffer. */
export interface QueueOccupancy {
  readonly queue: string;
  /** How many calls of its handlers may run at once: its `concurrency`. */
  readonly slots: number;
  /** How many of them run. A batch is one call. */
  readonly busy: number;
  readonly prefetched: number;
}

/** Starts the prefetched jobs of one queue in their order, and ends them early if they are cancelled or lost. */
export class JobStarter {
  readonly #runs = new Set<Run>();
  /** The latest attempt of each job that runs. */
  readonly #attemptByJob = new Map<number, Attempt>();
  /** The run of a poison candidate. No other run starts beside it. */
  #poisonRun: Run | undefined;
  #isStarting = false;
  /** Undefined if none surrounds the calls of handlers. */
  readonly #instrumentations: Instrumentations['ofRuns'];

  /** @param onChange called when further jobs may start, or when prefetched jobs were lost */
  constructor(
    private readonly parts: WorkerContext,
    private readonly queue: string,
    private readonly options: ResolvedQueueOptions,
    private readonly buffer: PrefetchBuffer,
    private readonly slots: QueueSlots,
    private readonly limits: PrefetchLimits,
    private readonly outcomeEffects: OutcomeEffects,
    private readonly limitGate: Pick<LimitGate, 'onJobEnd'>,
    private readonly onChange: () => void,
  ) {
    this.#instrumentations = parts.instrumentations.ofRuns;
  }

  get isIdle(): boolean {
    return this.#runs.size === 0;
  }

  get attempts(): Attempt[] {
    return [...this.#runs].flatMap(({ attempts }) => attempts);
  }

  isRunning(claimId: number, jobId: number): boolean {
    return this.attempts.some(({ job, claim }) => job.id === jobId && claim.id === claimId);
  }

  /** A poison candidate runs alone, so jobs that were claimed now would wait for it. */
  get waitsForPoisonCandidate(): boolean {
    const { next } = this.buffer;
    return this.#poisonRun !== undefined || (next !== undefined && isPoisonCandidate(next.job));
  }

  get occupancy(): QueueOccupancy {
    const { queue, slots, buffer } = this;
    return { queue, slots: slots.limit, busy: slots.used, prefetched: buffer.length };
  }

  startAll(): void {
    // A result of the heartbeat, which a check below receives, may ask for the same. The loop that runs starts those jobs.
    if (this.#isStarting) return;
    this.#isStarting = true;
    try {
      while (this.#canStart()) this.#startNext();
    } finally {
      this.#isStarting = false;
    }
  }

  /** The lease of the claim is lost: other workers own its jobs, or soon will. */
  abandon(claim: ActiveClaim): void {
    this.parts.leases.remove(claim);
    claim.abandon(this.buffer.remove((buffered) => buffered.claim === claim).map(({ job }) => job.id));
    for (const attempt of this.attempts) {
      if (attempt.claim === claim && !attempt.isDetached)
        attempt.abort(new LeaseLostError(attempt.job.id, attempt.job.queue));
    }
    this.onChange();
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

  #canStart(): boolean {
    const buffered = this.buffer.next;
    if (!buffered || this.slots.free === 0 || this.#poisonRun) return false;
    const { claim, job, indexInClaim } = buffered;
    const hasExpired = this.parts.leases.hasExpired(claim);
    // A result of the heartbeat that the check received has taken the job away: it is cancelled, or its claim is lost.
    if (this.buffer.next !== buffered) return this.#canStart();
    if (hasExpired) {
      // The renewal decides: the job starts, or the claim is abandoned.
      this.parts.leases.renewNow();
      return false;
    }
    if (isPoisonCandidate(job) && (!this.isIdle || claim.hasRunningJobs)) return false;
    if (claim.mayStart(indexInClaim)) return true;
    this.parts.completer.raiseStartLimit(claim, this.onChange);
    return false;
  }

  #startNext(): void {
    const attempts: Attempt[] = [];
    const entry = this.parts.handlers.find(this.queue, this.buffer.next!.job.name);
    const now = this.parts.clock.monotonic();
    do {
      const { claim, job, indexInClaim } = this.buffer.shift();
      claim.start(indexInClaim);
      if (entry) attempts.push(new Attempt(claim, job, this.options, this.parts, now));
      else this.outcomeEffects.snoozeUnhandled(claim, job);
    } while (attempts.length < (entry?.batch ?? 1) && this.#fitsBatch(attempts));
    if (entry && attempts.length > 0) this.#run(attempts, entry, now);
  }

  #fitsBatch([first]: readonly Attempt[]): boolean {
    const { next } = this.buffer;
    if (!first || !next || next.job.name !== first.job.name || !next.claim.mayStart(next.indexInClaim)) return false;
    if (this.parts.leases.hasExpired(next.claim) || this.buffer.next !== next) return false;
    return !isPoisonCandidate(first.job) && !isPoisonCandidate(next.job);
  }

  #run(attempts: readonly Attempt[], entry: HandlerEntry, now: number): void {
    const run = new Run(attempts, this.options, this.parts.clock, this.#instrumentations);
    this.#runs.add(run);
    if (isPoisonCandidate(attempts[0]!.job)) this.#poisonRun = run;
    this.slots.acquire();
    for (const attempt of attempts) {
      this.#attemptByJob.set(attempt.job.id, attempt);
      this.parts.events.emitStarted(attempt.job);
    }
    void this.#execute(run, entry, now);
  }

  async #execute(run: Run, entry: HandlerEntry, startedAtMs: number): Promise<void> {
    const ends = await run.execute(entry);
    this.limits.recordRunTime(this.parts.clock.monotonic() - startedAtMs);
    this.#runs.delete(run);
    for (const attempt of run.attempts)
      if (this.#attemptByJob.get(attempt.job.id) === attempt) this.#attemptByJob.delete(attempt.job.id);
    if (this.#poisonRun === run) this.#poisonRun = undefined;
    this.slots.release();
    run.attempts.forEach((attempt, index) => this.outcomeEffects.completeAttempt(attempt, ends[index]!));
    this.limitGate.onJobEnd();
    this.parts.onSlotFree(this.queue);
  }
}
