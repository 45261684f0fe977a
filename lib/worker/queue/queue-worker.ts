import { Alarm } from '../../common/clock.js';
import { inRootContext } from '../../common/async-context.js';
import type { ResolvedQueueOptions } from '../../job/queue-options.js';
import type { ChosenStrategy, QueueState } from '../../store/verbs/job-store.js';
import { OutcomeEffects } from '../complete/outcome-effects.js';
import { PrefetchBuffer, type ActiveClaim } from './active-claim.js';
import { Claimer, type ClaimingQueue, type NewClaim } from './claimer.js';
import { LimitGate } from './limit-gate.js';
import { JobAverages, plan, QueueSlots, waitsForPoisonCandidate, type QueueOccupancy } from './plan.js';
import { QueueRuns } from './queue-runs.js';
import type { WorkerContext } from './worker-context.js';

/** Works one queue in this process: `plan` decides when to claim and to start jobs, and this class does so. */
export class QueueWorker implements ClaimingQueue {
  readonly options: ResolvedQueueOptions;
  readonly maxBatchSize: number;
  readonly slots: QueueSlots;
  readonly buffer: PrefetchBuffer;
  readonly runs: QueueRuns;
  readonly claims: Claimer;
  readonly averages = new JobAverages();
  readonly #outcomeEffects: OutcomeEffects;
  #isOpen = false;
  #isFilling = false;
  #isRefillScheduled = false;
  /** Jobs that were announced and not claimed so far. */
  #announcedJobs = 0;
  claimedCount = 0;
  /** Rests that are being stored. */
  #restCount = 0;
  /** The monotonic time at which its limits or its last rest were stored. */
  #limitedAt = -Infinity;
  /** Created when the queue is known to have limits or groups. */
  #gate: LimitGate | undefined;
  /** Rings when they allow more jobs. */
  readonly #alarm: Alarm;

  constructor(
    private readonly worker: WorkerContext,
    private readonly queue: string,
    readonly strategy: ChosenStrategy,
  ) {
    const options = worker.optionsFor(queue);
    this.options = options;
    this.maxBatchSize = worker.handlers.maxBatchSize(queue);
    this.buffer = new PrefetchBuffer(options.order);
    this.slots = new QueueSlots(worker.slots, options.concurrency);
    if (options.groups) this.#createGate();
    this.#alarm = new Alarm(worker.clock, (time) => {
      this.#gate?.pass(time);
      this.wake();
    });
    this.#outcomeEffects = new OutcomeEffects(worker, options, () => this.#onOutcomeDone());
    const { buffer, slots } = this;
    this.runs = new QueueRuns(worker, queue, options, buffer, slots, this.#outcomeEffects, (ms) => this.#onRunEnd(ms));
    this.claims = new Claimer(worker, queue, this, () => this.#receive());
  }

  get isIdle(): boolean {
    return this.runs.isIdle && this.buffer.length === 0 && this.claims.isIdle && this.#outcomeEffects.isIdle;
  }

  get gate(): LimitGate | undefined {
    return this.#gate;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Its claims need the lock of the worker. */
  get isByLock(): boolean {
    return this.strategy.name === 'lock';
  }

  get isResting(): boolean {
    return this.#restCount > 0;
  }

  /** No further job can start now, so waiting jobs need not be claimed. */
  get isFull(): boolean {
    return this.slots.free === 0 || waitsForPoisonCandidate(this);
  }

  get occupancy(): QueueOccupancy {
    const { queue, slots, buffer } = this;
    return { queue, slots: slots.limit, busy: slots.used, prefetched: buffer.length };
  }

  get lacksJobs(): boolean {
    return this.#isOpen && !this.isFull && this.claims.isIdle;
  }

  /** It has all the jobs that it can run, or goes on claiming without a poll. */
  get needsNoPoll(): boolean {
    return this.isFull || this.claims.isAnnounced || !this.claims.isIdle;
  }

  /** This number of jobs may have become claimable. Returns whether this process probably has slots for all of them. */
  announce(jobs: number): boolean {
    this.#announcedJobs += jobs;
    this.wake();
    if (!this.#isOpen || waitsForPoisonCandidate(this)) return false;
    return this.#announcedJobs <= this.slots.free * this.maxBatchSize - this.buffer.length;
  }

  /** There may be jobs to claim. */
  wake(): void {
    this.claims.announce();
    this.fill();
  }

  /**
   * Opened, the queue claims the jobs that were announced while it was closed.
   *
   * @param wakes there may be other jobs to claim
   */
  setOpen(open: boolean, wakes: boolean): void {
    if (open === this.#isOpen) return;
    this.#isOpen = open;
    this.#gate?.setClaiming(open);
    if (open) return wakes ? this.wake() : this.fill();
    this.#alarm.set(Infinity);
    this.#releaseBuffered();
  }

  /**
   * Applies the state that a poll has read. Returns whether this process takes jobs of the queue now.
   *
   * @param readAt the monotonic time before the state was read
   */
  applyState({ waiting, isLimited, isResting, hasGroups }: QueueState, readAt: number): boolean {
    this.#setLimited(isLimited, readAt);
    if (isResting) void this.rest();
    if (hasGroups) this.discoverGroups();
    if (!this.#isOpen || !waiting) return false;
    this.wake();
    return !this.isFull && !this.#gate?.isShut;
  }

  /** The database has groups of the queue, although this process may have no options for them. */
  discoverGroups(): void {
    this.#createGate().discoverGroups();
  }

  /** The database has limits of the queue now. A poll that has read it before may answer later. */
  onLimitsDeclared(): void {
    this.#limitedAt = Math.max(this.#limitedAt, this.worker.clock.monotonic());
    this.#setLimited(true, Infinity);
  }

  /** @param readAt the monotonic time before the database was read, which may not have had the limits or the last rest yet */
  #setLimited(isLimited: boolean, readAt: number): void {
    const wasLimited = this.#gate?.isLimited ?? false;
    if (isLimited === wasLimited || (!isLimited && readAt <= this.#limitedAt)) return;
    const gate = this.#createGate();
    gate.setLimited(isLimited);
    this.#alarm.set(gate.opensAt);
  }

  /**
   * Starts no job until the rest is stored. Then the claims keep it. Jobs that were claimed before are released.
   *
   * @param stored resolves when the database has the rest
   */
  async rest(stored: Promise<void> = Promise.resolve()): Promise<void> {
    this.#limitedAt = Infinity;
    this.#setLimited(true, Infinity);
    this.#restCount++;
    this.#releaseBuffered();
    await stored;
    while (!this.claims.isIdle) await this.claims.untilAnswered();
    if (--this.#restCount === 0) this.#limitedAt = this.worker.clock.monotonic();
    this.wake();
  }

  /** Handler calls that run already continue if the new concurrency is lower. */
  setConcurrency(concurrency: number): void {
    this.slots.setConcurrency(concurrency);
    this.wake();
  }

  /** The lease of the claim is lost. */
  abandon(claim: ActiveClaim): void {
    this.runs.abandon(claim);
    this.#refillSoon();
  }

  fill(): void {
    // A result of the heartbeat, which a lease check below receives, may ask for the same. The loop that runs does it.
    if (this.#isOpen && !this.#isFilling) inRootContext(this.#followPlans);
  }

  readonly #followPlans = (): void => {
    this.#isFilling = true;
    try {
      while (this.#followPlan());
    } finally {
      this.#isFilling = false;
    }
  };

  /** Returns whether there may be more to start. */
  #followPlan(): boolean {
    const { leases, completer, clock } = this.worker;
    // If the lease of the next job seems to have expired, a result of the heartbeat may have renewed it or taken the job.
    if (this.slots.free > 0 && this.buffer.next) this.#hasExpired(this.buffer.next.claim);
    const now = clock.monotonic();
    const { start, awaits, claim, waitUntil } = plan(this, now);
    if (start > 0) {
      this.runs.start(start, now);
      return true;
    }
    // The renewal decides: the job starts, or its claim is abandoned.
    if (awaits === 'lease') leases.renewNow();
    if (awaits === 'start limit') completer.raiseStartLimit(this.buffer.next!.claim, this.#refillSoon);
    if (claim) this.claims.claim(claim);
    this.#alarm.set(waitUntil);
    return false;
  }

  /** As far as this process can know. Asks for results of the heartbeat only if the lease seems to have expired. */
  #hasExpired(claim: ActiveClaim): boolean {
    return claim.hasExpired(this.worker.clock.monotonic()) && this.worker.leases.confirmExpiry(claim);
  }

  #releaseBuffered(): void {
    for (const { claim, job } of this.buffer.remove())
      this.#outcomeEffects.completeUnstarted(claim, job, { kind: 'release' });
  }

  #onRunEnd(ranMs: number): void {
    this.averages.recordRunTime(ranMs);
    if (this.#gate?.onJobEnd()) this.wake();
    this.worker.queues.onSlotFree(this.queue);
  }

  #onOutcomeDone(): void {
    if (this.#gate) this.#onPlaceFree(this.#gate);
    this.#refillSoon();
  }

  /** The limits of the queue or of a group allow one more job, which this process may not claim. */
  #onPlaceFree(gate: LimitGate): void {
    if (gate.onJobEnd()) this.wake();
    if ((gate.isLimited || gate.groups) && !this.#isOpen) this.worker.announce(this.queue, 1);
    else if (gate.groups) this.claims.announce();
  }

  #createGate(): LimitGate {
    return (this.#gate ??= new LimitGate(this.options.groups, this.worker.clock, this.#isOpen));
  }

  /** Once for all outcomes that one batch has written. */
  readonly #refillSoon = (): void => {
    if (this.#isRefillScheduled) return;
    this.#isRefillScheduled = true;
    queueMicrotask(this.#refill);
  };

  readonly #refill = (): void => {
    this.#isRefillScheduled = false;
    this.fill();
    this.worker.queues.onIdle(this.queue);
  };

  #receive(): void {
    for (const claimed of this.claims.takeReady()) this.#add(claimed);
    // The claim came back short: other workers took the announced jobs.
    if (!this.claims.isAnnounced) this.#announcedJobs = 0;
    this.#refill();
  }

  #add({ claim, jobs }: NewClaim): void {
    this.claimedCount += jobs.length;
    this.#announcedJobs = Math.max(0, this.#announcedJobs - jobs.length);
    this.averages.recordPayloadSizes(jobs);
    if (this.worker.events.hasAnyListener) this.worker.events.emitClaimed(jobs);
    // The lease was lost while the jobs waited for those of an earlier claim.
    if (claim.isAbandoned) return;
    // If the queue was closed or rests meanwhile, or the answer came late, the jobs are released.
    const mayStart = this.#isOpen && this.#restCount === 0 && !this.#hasExpired(claim);
    if (mayStart) this.buffer.add(this.runs.putOffRunning(this.#outcomeEffects.completeUnrunnable(claim, jobs)));
    else for (const job of jobs) this.#outcomeEffects.completeUnstarted(claim, job, { kind: 'release' });
  }
}
