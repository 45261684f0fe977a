import { JobCancelledError, LeaseLostError } from '../job/errors.js';
import type { ClaimedJob } from '../job/job.js';
import { isSuspect, type Outcome } from '../job/outcome.js';
import type { ResolvedQueueOptions } from '../job/queue-options.js';
import { Claimer } from './claimer.js';
import type { HeldClaim } from './held-claim.js';
import type { JobEvents } from './job-events.js';
import { Prefetch } from './prefetch.js';
import { Run, type Handler, type RunEnd, type RunParts } from './run.js';
import type { Settled, Settler } from './settler.js';
import type { Slots } from './slots.js';

// What a process without a handler for a job's name does with it, so that one with a handler can have it.
const SNOOZE_UNHANDLED_MS = 10_000;

const MOST_A_CLAIM = 1_000;

export interface QueueWorkerParts extends RunParts {
  readonly queue: string;
  readonly options: ResolvedQueueOptions;
  /** The handler for jobs of that name, if this process has one. */
  readonly handlerFor: (name: string) => Handler | undefined;
  readonly settler: Settler;
  readonly events: JobEvents;
  readonly slots: Slots;
  /** The claims of this process, for its heartbeat. */
  readonly held: Set<HeldClaim>;
  /** Some job of the queue will be due in so many milliseconds. */
  readonly expectDue: (ms: number) => void;
  /** A slot, or the whole queue, has become idle. */
  readonly onIdle: () => void;
}

interface Place {
  readonly claim: HeldClaim;
  readonly job: ClaimedJob;
  /** Its place in the claim's list: what has begun is told to the database as the head of that list. */
  readonly index: number;
}

/** One queue in this process: fills its slots with jobs, and jobs that wait here with claims. */
export class QueueWorker {
  readonly #buffer: Place[] = [];
  readonly #runs = new Set<Run>();
  readonly #claimer: Claimer;
  readonly #prefetch: Prefetch;
  readonly #unhandled = new Set<string>();
  #claiming: Promise<void> | undefined;
  /** Outcomes on their way, up to what follows from them: a job that runs again at once is claimed by then. */
  #settling = 0;
  #open = true;

  constructor(private readonly parts: QueueWorkerParts) {
    this.#claimer = new Claimer(parts);
    this.#prefetch = new Prefetch(parts.options);
  }

  get running(): number {
    return this.#runs.size;
  }

  /** Nothing runs, waits, or is being claimed or settled here. */
  get isIdle(): boolean {
    return this.#runs.size === 0 && this.#buffer.length === 0 && !this.#claiming && this.#settling === 0;
  }

  get isOpen(): boolean {
    return this.#open;
  }

  /** No slot is free: jobs that wait can go on waiting. */
  get isFull(): boolean {
    return this.#freeSlots() <= 0;
  }

  /** There may be jobs to claim. */
  wake(): void {
    this.#claimer.hint();
    this.fill();
  }

  /** Opens or closes the queue for this process. When it closes, jobs that have not begun go back, unharmed. */
  setOpen(open: boolean): void {
    if (open === this.#open) return;
    this.#open = open;
    if (open) return this.wake();
    for (const { claim, job } of this.#buffer.splice(0)) void this.#settleUnbegun(claim, job, { kind: 'release' });
  }

  /** Begins what can begin, and claims where there is room and hope. */
  fill(): void {
    if (!this.#open) return;
    while (this.#canBegin()) this.#begin(this.#buffer.shift()!);
    if (this.#shouldClaim()) {
      this.#claiming = this.#claim().finally(() => {
        this.#claiming = undefined;
        this.fill();
        this.parts.onIdle();
      });
    }
  }

  /** The lease of the claim is gone: its jobs are somebody else's, or soon will be. */
  forget(claim: HeldClaim): void {
    claim.mustLapse = true;
    this.parts.held.delete(claim);
    for (const { job } of this.#dropFromBuffer((place) => place.claim === claim)) claim.unsettled.delete(job.id);
    for (const run of this.#runs) {
      if (run.claim === claim) run.abort(new LeaseLostError(run.job.id, run.job.queue));
    }
  }

  /** Somebody wants the job cancelled; nothing happens where this process does not have it. */
  cancel(jobId: number): void {
    const [place] = this.#dropFromBuffer(({ job }) => job.id === jobId);
    if (place) void this.#settleUnbegun(place.claim, place.job, { kind: 'cancel' });
    // There can be two: one whose lease was lost, and the one that took its place.
    const runs = [...this.#runs].filter(({ job }) => job.id === jobId);
    runs.forEach((run) => run.abort(new JobCancelledError(jobId, this.parts.queue)));
  }

  abortAll(reason: Error): void {
    for (const run of this.#runs) run.abort(reason);
  }

  /** Ends what still runs: its handlers had their chance. */
  releaseAll(): void {
    for (const run of this.#runs) run.end({ kind: 'release' });
  }

  #canBegin(): boolean {
    const place = this.#buffer[0];
    if (!place || this.parts.slots.free <= 0 || this.#runs.size >= this.parts.options.concurrency) return false;
    const { claim, job, index } = place;
    // A suspect runs alone, so that it takes nobody with it.
    if (this.#runs.size > 0 && (isSuspect(job) || [...this.#runs].some((run) => isSuspect(run.job)))) return false;
    if (index < claim.started) return true;
    if (!claim.asking) {
      claim.asking = true;
      void this.parts.settler.allowMore(claim).finally(() => {
        claim.asking = false;
        this.fill();
      });
    }
    return false;
  }

  #begin({ claim, job, index }: Place): void {
    claim.begun = index + 1;
    if (this.parts.clock.monotonic() >= claim.deadline) {
      claim.unsettled.delete(job.id);
      return this.forget(claim);
    }
    const handler = this.parts.handlerFor(job.name);
    if (!handler) return this.#snoozeUnhandled(claim, job);
    const run = new Run(claim, job, this.parts.options, this.parts);
    this.#runs.add(run);
    this.parts.slots.take();
    this.parts.events.started(job);
    void this.#finish(run, handler);
  }

  async #finish(run: Run, handler: Handler): Promise<void> {
    const end = await run.outcome(handler);
    const { ranMs } = run;
    this.#prefetch.note(ranMs);
    this.#runs.delete(run);
    this.parts.slots.giveBack();
    const settling = end.committed
      ? this.#committed(run, end)
      : this.parts.settler.settle(run.claim, run.settlement(end.outcome));
    this.fill();
    const settled = await settling;
    if (settled === 'lost') this.#lost(run, ranMs);
    else this.#told(run.job, settled, end.result, ranMs);
    this.#tidy(run.claim);
    this.fill();
    this.parts.onIdle();
  }

  #committed(run: Run, { outcome }: RunEnd): Settled {
    this.parts.settler.committed(run.claim, run.job.id);
    return outcome;
  }

  #snoozeUnhandled(claim: HeldClaim, job: ClaimedJob): void {
    if (!this.#unhandled.has(job.name)) {
      this.#unhandled.add(job.name);
      this.parts.logger.warn(
        `No handler in this process for jobs named "${job.name}" of queue "${job.queue}": they are put off by ` +
          `${SNOOZE_UNHANDLED_MS / 1_000} s each time, for a process that has one.`,
      );
    }
    void this.#settleUnbegun(claim, job, { kind: 'snooze', delayMs: SNOOZE_UNHANDLED_MS });
  }

  async #settleUnbegun(claim: HeldClaim, job: ClaimedJob, outcome: Outcome): Promise<void> {
    const { settler, workerId, options } = this.parts;
    const keepMs = options.retention.deadMs;
    const settled = await settler.settle(claim, {
      job,
      claimId: claim.id,
      workerId,
      outcome,
      ranMs: null,
      keepMs,
    });
    if (settled !== 'lost') this.#told(job, settled, undefined, null);
    this.#tidy(claim);
    this.fill();
    this.parts.onIdle();
  }

  #shouldClaim(): boolean {
    if (this.#claiming || !this.#claimer.hasHope) return false;
    const { size } = this.#prefetch;
    // Ask when half of what was claimed ahead is gone, not at every job.
    return this.#room() > 0 && this.#buffer.length <= size / 2 && (size > 0 || this.#freeSlots() > 0);
  }

  #freeSlots(): number {
    return Math.min(this.parts.slots.free, this.parts.options.concurrency - this.#runs.size);
  }

  #room(): number {
    return Math.min(MOST_A_CLAIM, this.#freeSlots() + this.#prefetch.size - this.#buffer.length);
  }

  async #claim(): Promise<void> {
    const started = this.#freeSlots() + this.parts.options.concurrency;
    const claim = await this.#claimer.claim(this.#room(), started);
    if (!claim) return;
    this.parts.held.add(claim);
    this.#receive(claim);
  }

  #receive(claim: HeldClaim): void {
    for (const [index, job] of claim.jobs.entries()) {
      // Closed while the claim was under way.
      if (!this.#open) void this.#settleUnbegun(claim, job, { kind: 'release' });
      else this.#buffer.push({ claim, job, index });
    }
  }

  #tidy(claim: HeldClaim): void {
    if (claim.unsettled.size === 0) this.parts.held.delete(claim);
  }

  #dropFromBuffer(matches: (place: Place) => boolean): Place[] {
    const dropped = this.#buffer.filter(matches);
    const kept = this.#buffer.filter((place) => !dropped.includes(place));
    this.#buffer.splice(0, this.#buffer.length, ...kept);
    return dropped;
  }

  /** What follows from an outcome that has committed. */
  #told(job: ClaimedJob, outcome: Outcome, result: unknown, ranMs: number | null): void {
    this.parts.events.settled(job, outcome, result, ranMs);
    if (outcome.kind === 'retry' || outcome.kind === 'snooze') this.parts.expectDue(outcome.delayMs);
    const waitsAgain = outcome.kind === 'release' || (outcome.kind === 'retry' && outcome.delayMs === 0);
    if (waitsAgain && this.#open) this.wake();
  }

  #lost({ job, claim }: Run, ranMs: number | null): void {
    if (!claim.isLossLogged) this.parts.logger.warn(new LeaseLostError(job.id, job.queue).message);
    claim.isLossLogged = true;
    this.parts.events.lost(job, ranMs);
  }
}
