import { JobCancelledError, LeaseLostError } from '../../job/errors.js';
import type { ClaimedJob } from '../../job/job.js';
import { isPoisonCandidate } from '../../job/outcome.js';
import type { ResolvedQueueOptions } from '../../job/queue-options.js';
import type { Instrumentations } from '../../instrumentation/instrumentations.js';
import type { OutcomeEffects } from '../complete/outcome-effects.js';
import { Attempt } from '../run/attempt.js';
import type { HandlerEntry } from '../run/handler-table.js';
import { Run } from '../run/run.js';
import type { ActiveClaim, BufferedJob, PrefetchBuffer } from './active-claim.js';
import type { QueueSlots } from './plan.js';
import type { WorkerContext } from './worker-context.js';

/** Starts the prefetched jobs of one queue, and ends them early if they are cancelled or lost. */
export class QueueRuns {
  readonly #runs = new Set<Run>();
  /** The latest attempt of each job that runs. */
  readonly #attemptByJob = new Map<number, Attempt>();
  /** The run of a poison candidate. No other run starts beside it. */
  #poisonRun: Run | undefined;
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
    return this.worker.handlers.find(this.queue, name)?.batch ?? 1;
  }

  /** Starts the first `jobs` jobs of the buffer, in one call of their handler. */
  start(jobs: number, now: number): void {
    const entry = this.worker.handlers.find(this.queue, this.buffer.next!.job.name);
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
    this.worker.leases.remove(claim);
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

  #run(attempts: readonly Attempt[], entry: HandlerEntry, now: number): void {
    const run = new Run(attempts, this.worker.clock, this.#instrumentations);
    this.#runs.add(run);
    if (isPoisonCandidate(attempts[0]!.job)) this.#poisonRun = run;
    this.slots.acquire();
    for (const attempt of attempts) {
      this.#attemptByJob.set(attempt.job.id, attempt);
      this.worker.events.emitStarted(attempt.job);
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
