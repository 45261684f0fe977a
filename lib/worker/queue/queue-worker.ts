import { inRootContext } from '../../common/async-context.js';
import type { QueueState } from '../../store/verbs/job-store.js';
import { OutcomeEffects } from '../complete/outcome-effects.js';
import type { ActiveClaim } from './active-claim.js';
import { Claimer, type NewClaim } from './claimer.js';
import { JobStarter } from './job-starter.js';
import { LimitGate } from './limit-gate.js';
import { PrefetchBuffer } from './prefetch-buffer.js';
import { PrefetchLimits, type ClaimDemand } from './prefetch-limits.js';
import { QueueGroups } from './queue-groups.js';
import { QueueSlots } from './queue-slots.js';
import type { WorkerContext } from './worker-context.js';

/** Works one queue in this process: fills its slots from the prefetch buffer, and the buffer with claims. */
export class QueueWorker {
  readonly starter: JobStarter;
  readonly groups: QueueGroups;
  readonly #buffer: PrefetchBuffer;
  readonly #slots: QueueSlots;
  readonly #claimer: Claimer;
  readonly #prefetchLimits: PrefetchLimits;
  readonly #outcomeEffects: OutcomeEffects;
  readonly #limitGate: LimitGate;
  readonly #maxBatchSize: number;
  #isOpen = true;
  #isRefillScheduled = false;
  /** Jobs that were announced and not claimed so far. */
  #announcedJobs = 0;
  claimedCount = 0;
  /** Rests that are being stored. */
  #restCount = 0;
  /** The monotonic time at which the last rest was stored. */
  #restedAt = -Infinity;
  #answerWaiters: (() => void)[] = [];

  constructor(
    private readonly parts: WorkerContext,
    private readonly queue: string,
  ) {
    const options = parts.optionsFor(queue);
    this.#maxBatchSize = parts.handlers.maxBatchSize(queue);
    this.#buffer = new PrefetchBuffer(options.order);
    this.#slots = new QueueSlots(parts.slots, options.concurrency);
    this.#prefetchLimits = new PrefetchLimits(options, this.#slots, this.#maxBatchSize);
    this.#limitGate = new LimitGate(parts.clock, () => this.wake());
    this.groups = new QueueGroups(options.groups, parts.clock, () => this.wake());
    this.#outcomeEffects = new OutcomeEffects(parts, options, () => this.#onOutcomeDone());
    this.starter = new JobStarter(
      parts,
      queue,
      options,
      this.#buffer,
      this.#slots,
      this.#prefetchLimits,
      this.#outcomeEffects,
      this.#limitGate,
      () => this.#refillSoon(),
    );
    this.#claimer = new Claimer(
      parts,
      queue,
      options,
      this.#slots,
      this.#limitGate,
      this.groups,
      () => this.#computeDemand(),
      () => this.#claim(),
    );
  }

  get isIdle(): boolean {
    return this.starter.isIdle && this.#buffer.length === 0 && this.#claimer.isIdle && this.#outcomeEffects.isIdle;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** No further job can start now, so waiting jobs need not be claimed. */
  get isFull(): boolean {
    return this.#slots.free === 0 || this.starter.waitsForPoisonCandidate;
  }

  startAheadLimit(claim: ActiveClaim): number {
    const { next } = this.#buffer;
    const mayStartNone = this.#prefetchLimits.hasNoSpareAttempt && next && next.claim !== claim;
    return mayStartNone ? 0 : this.#prefetchLimits.startAheadLimit;
  }

  get lacksJobs(): boolean {
    return this.#isOpen && !this.isFull && this.#claimer.isIdle;
  }

  /** It has all the jobs that it can run, or goes on claiming without a poll. */
  get needsNoPoll(): boolean {
    return this.isFull || this.#claimer.hasPendingNotification || !this.#claimer.isIdle;
  }

  /** If so, more jobs probably wait, and the next claim finds out. */
  get wasLastClaimFull(): boolean {
    return this.#claimer.wasLastClaimFull;
  }

  /** Resolves with the answer to the claim under way, if there is one. */
  async untilAnswered(): Promise<void> {
    if (!this.#claimer.isIdle) await new Promise<void>((resolve) => this.#answerWaiters.push(resolve));
  }

  /** This number of jobs may have become claimable. Returns whether this process probably has slots for all of them. */
  announce(jobs: number): boolean {
    this.#announcedJobs += jobs;
    this.wake();
    return (
      this.#isOpen &&
      !this.starter.waitsForPoisonCandidate &&
      this.#announcedJobs <= this.#slots.free * this.#maxBatchSize - this.#buffer.length
    );
  }

  /** There may be jobs to claim. */
  wake(): void {
    this.#claimer.announce();
    this.fill();
  }

  setOpen(open: boolean): void {
    if (open === this.#isOpen) return;
    this.#isOpen = open;
    this.#limitGate.setClaiming(open);
    if (open) return this.wake();
    this.groups.cancel();
    this.#releaseBuffered();
  }

  /**
   * Applies the state that a poll has read. Returns whether this process takes jobs of the queue now.
   *
   * @param readAt the monotonic time before the state was read
   */
  applyState({ waiting, isLimited, isResting, hasGroups }: QueueState, readAt: number): boolean {
    this.setLimited(isLimited, readAt);
    if (isResting) void this.rest();
    if (hasGroups) this.groups.discover();
    if (!this.#isOpen || !waiting) return false;
    this.wake();
    return !this.isFull && !this.#limitGate.isShut;
  }

  /**
   * Jobs of a queue with limits are not prefetched: a prefetched job would use the limits before it starts.
   *
   * @param readAt the monotonic time before the database was read, which may not have had the last rest yet
   */
  setLimited(isLimited: boolean, readAt: number): void {
    if (isLimited === this.#limitGate.isLimited || (!isLimited && readAt <= this.#restedAt)) return;
    this.#limitGate.setLimited(isLimited);
    this.#prefetchLimits.setPrefetching(!isLimited);
  }

  /**
   * Starts no job until the rest is stored. Then the claims keep it. Jobs that were claimed before are released.
   *
   * @param stored resolves when the database has the rest
   */
  async rest(stored: Promise<void> = Promise.resolve()): Promise<void> {
    this.#restedAt = Infinity;
    this.setLimited(true, Infinity);
    this.#restCount++;
    this.#releaseBuffered();
    await stored;
    while (!this.#claimer.isIdle) await this.untilAnswered();
    if (--this.#restCount === 0) this.#restedAt = this.parts.clock.monotonic();
    this.wake();
  }

  /** Handler calls that run already continue if the new concurrency is lower. */
  setConcurrency(concurrency: number): void {
    this.#slots.setConcurrency(concurrency);
    this.wake();
  }

  fill(): void {
    if (!this.#isOpen) return;
    inRootContext(() => {
      this.starter.startAll();
      this.#claim();
    });
  }

  #releaseBuffered(): void {
    for (const { claim, job } of this.#buffer.remove())
      this.#outcomeEffects.completeUnstarted(claim, job, { kind: 'release' });
  }

  #onOutcomeDone(): void {
    this.#limitGate.onJobEnd();
    // The limits of the queue or of a group allow one more job, which this process may not claim.
    if ((this.#limitGate.isLimited || this.groups.rules) && !this.#isOpen) this.parts.announce(this.queue, 1);
    else if (this.groups.rules) this.#claimer.announce();
    this.#refillSoon();
  }

  /** Once for all outcomes that one batch has written. */
  #refillSoon(): void {
    if (this.#isRefillScheduled) return;
    this.#isRefillScheduled = true;
    queueMicrotask(() => {
      this.#isRefillScheduled = false;
      this.#refill();
    });
  }

  #refill(): void {
    this.fill();
    this.parts.onIdle(this.queue);
  }

  #computeDemand(): ClaimDemand | undefined {
    if (!this.#isOpen || this.#restCount > 0 || this.starter.waitsForPoisonCandidate) return undefined;
    return this.#prefetchLimits.demand(this.#buffer.length + this.#claimer.expectedJobs, !this.starter.isIdle);
  }

  #claim(): void {
    const claiming = this.#claimer.claim();
    if (claiming) void this.#receive(claiming);
  }

  async #receive(claiming: Promise<void>): Promise<void> {
    await claiming;
    for (const claimed of this.#claimer.takeReady()) this.#add(claimed);
    // The claim came back short: other workers took the announced jobs.
    if (!this.#claimer.hasPendingNotification) this.#announcedJobs = 0;
    this.#refill();
    this.#answerWaiters.splice(0).forEach((resolve) => resolve());
  }

  #add({ claim, jobs }: NewClaim): void {
    this.claimedCount += jobs.length;
    this.#announcedJobs = Math.max(0, this.#announcedJobs - jobs.length);
    this.#prefetchLimits.recordPayloadSizes(jobs);
    this.parts.events.emitClaimed(jobs);
    // The lease was lost while the jobs waited for those of an earlier claim.
    if (claim.isAbandoned) return;
    // If the queue was closed or rests meanwhile, or the answer came late, the jobs are released.
    const mayStart = this.#isOpen && this.#restCount === 0 && !this.parts.leases.hasExpired(claim);
    if (mayStart) this.#buffer.add(this.starter.putOffRunning(this.#outcomeEffects.completeUnrunnable(claim, jobs)));
    else for (const job of jobs) this.#outcomeEffects.completeUnstarted(claim, job, { kind: 'release' });
  }
}
