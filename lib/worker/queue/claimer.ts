import type { ClaimedJob } from '../../job/job.js';
import { randomId } from '../../job/identifiers.js';
import { logText } from '../../common/logger.js';
import { hasCode } from '../../job/errors.js';
import type { ResolvedQueueOptions } from '../../job/queue-options.js';
import type { Instrumentations } from '../../instrumentation/instrumentations.js';
import type { ChosenStrategy } from '../../store/verbs/job-store.js';
import type { ClaimRequest } from '../../store/rows/claim.js';
import { ActiveClaim } from './active-claim.js';
import type { LimitGate } from './limit-gate.js';
import { claimDemand, type ClaimDemand, type PlanState, type QueueSlots, type SlotReservation } from './plan.js';
import type { WorkerContext } from './worker-context.js';

export interface NewClaim {
  readonly claim: ActiveClaim;
  readonly jobs: readonly ClaimedJob[];
}

/** The queue worker that claims. */
export interface ClaimingQueue extends PlanState {
  readonly options: ResolvedQueueOptions;
  readonly strategy: ChosenStrategy;
  readonly slots: QueueSlots;
  readonly gate: LimitGate | undefined;
}

interface ClaimAnswer {
  /** How many jobs the database returned. */
  readonly count: number;
  /** Undefined: the claim returned no jobs, or this process does not own them. */
  readonly claimed: NewClaim | undefined;
  readonly reservation: SlotReservation;
}

// While the jobs of one claim run, the other one is answered.
const MAX_CLAIMS_UNDER_WAY = 2;

/** Claims jobs of one queue, as long as notifications and full claims suggest that there are more. */
export class Claimer {
  /** Counts announcements. One that arrives during a claim stays pending if that claim comes back short. */
  #announcements = 1;
  #handledAnnouncements = 0;
  #isWaitingForTurn = false;
  #claimsUnderWay = 0;
  #expectedJobs = 0;
  /** Undefined if no instrumentation observes it. */
  readonly #onDatabaseCall: Instrumentations['ofDatabase'];
  readonly #answerWaiters: (() => void)[] = [];
  readonly #sequencer = new ClaimSequencer<ClaimAnswer>();

  /** @param onAnswered called after each claim, also if it has claimed nothing, and when the next one may find jobs */
  constructor(
    private readonly parts: WorkerContext,
    private readonly queue: string,
    private readonly worker: ClaimingQueue,
    private readonly onAnswered: () => void,
  ) {
    this.#onDatabaseCall = parts.instrumentations.ofDatabase;
  }

  get isIdle(): boolean {
    return !this.#isWaitingForTurn && this.#sequencer.isEmpty;
  }

  /** Jobs that claims under way may return, and returned jobs that were not taken yet. */
  get expectedJobs(): number {
    return this.#expectedJobs;
  }

  /** Whether there may be jobs to claim: the last claim was full, or jobs were announced after it. */
  get isAnnounced(): boolean {
    return this.#announcements !== this.#handledAnnouncements;
  }

  get mayBegin(): boolean {
    if (this.#isWaitingForTurn || this.#claimsUnderWay >= MAX_CLAIMS_UNDER_WAY) return false;
    return !this.#sequencer.isChoosing && this.#lockId !== undefined;
  }

  /** The worker lock to claim under. 0: the strategy needs none. Undefined: the worker has no lock at the moment. */
  get #lockId(): number | undefined {
    return this.worker.strategy.name === 'lock' ? this.parts.lock.id : 0;
  }

  announce(): void {
    this.#announcements++;
  }

  /** Resolves with the answer to the claim under way, if there is one. */
  async untilAnswered(): Promise<void> {
    if (!this.isIdle) await new Promise<void>((resolve) => this.#answerWaiters.push(resolve));
  }

  /** `takeReady` returns the jobs after the answer. */
  claim(demand: ClaimDemand): void {
    void this.#claimAtEndOfTurn(this.worker.slots.reserve(demand.slots));
  }

  /** Removes and returns the claims whose jobs can start, in the order in which they chose their jobs. */
  takeReady(): NewClaim[] {
    const ready: NewClaim[] = [];
    for (const { count, claimed, reservation } of this.#sequencer.takeReady()) {
      reservation.release();
      this.#expectedJobs -= count;
      if (claimed) ready.push(claimed);
    }
    return ready;
  }

  async #claimAtEndOfTurn(reservation: SlotReservation): Promise<void> {
    this.#isWaitingForTurn = true;
    await this.parts.completer.endOfTurn();
    this.#isWaitingForTurn = false;
    // Jobs that ended in the same turn have made more room since the reservation.
    const demand = claimDemand(this.worker);
    reservation.resize(demand?.slots ?? 0);
    if (demand) await this.#claimNow(demand, reservation);
    this.onAnswered();
    this.#answerWaiters.splice(0).forEach((resolve) => resolve());
  }

  async #claimNow(demand: ClaimDemand, reservation: SlotReservation): Promise<void> {
    const { gate } = this.worker;
    const announcements = this.#announcements;
    const requestedAt = this.parts.clock.monotonic();
    const sequenced = this.#sequencer.begin();
    const onLocked = (count: number) => {
      sequenced.markLocked();
      if (count < demand.limit) this.#handledAnnouncements = announcements;
      const next = claimDemand(this.worker);
      if (next) this.claim(next);
    };
    const openGate = (_count: number) => gate?.open();
    let setGate = openGate;
    const onChoosing = () => {
      sequenced.markChoosing();
      setGate = openGate;
    };
    const onLimited = (moreInMs: number | null, allowed: number) => {
      setGate = (claimedCount) => gate?.shut(moreInMs, allowed - claimedCount);
    };
    const onMissedWork = () => {
      this.announce();
      this.onAnswered();
    };
    const onMoreIn = (ms: number) => {
      gate?.expectGroups(ms);
      // A claim under way leads to a plan anyway.
      if (this.isIdle) this.onAnswered();
    };
    const request = this.#createRequest(demand, { onChoosing, onLocked, onLimited, onMoreIn, onMissedWork });
    gate?.beginClaim();
    this.#claimsUnderWay++;
    this.#expectedJobs += request.limit;

    const { count, claimed } = await this.#send(request, requestedAt);

    this.#claimsUnderWay--;
    this.#expectedJobs -= request.limit - count;
    if (count < request.limit) this.#handledAnnouncements = announcements;
    // Its transaction may have been repeated after it had locked fewer jobs.
    else this.announce();
    setGate(count);
    sequenced.markAnswered({ count, claimed, reservation });
  }

  #createRequest(
    { limit, startLimit }: ClaimDemand,
    progress: Pick<ClaimRequest, 'onChoosing' | 'onLocked' | 'onLimited' | 'onMoreIn' | 'onMissedWork'>,
  ): ClaimRequest {
    const { queue } = this;
    const { workerId } = this.parts;
    const { options, gate } = this.worker;
    return {
      queue,
      workerId,
      limit,
      startLimit,
      claimId: randomId(),
      order: options.order,
      strategy: this.worker.strategy.name,
      lockId: this.#lockId!,
      leaseMs: options.leaseMs,
      maxAttempts: options.retry.attempts,
      deadLetter: options.deadLetter,
      isLimited: gate?.isLimited ?? false,
      ...(gate?.groups && { groups: gate.groups }),
      ...progress,
    };
  }

  async #send(request: ClaimRequest, requestedAt: number): Promise<Pick<ClaimAnswer, 'count' | 'claimed'>> {
    const { stores, completer, ownClaims, logger } = this.parts;
    let jobs: readonly ClaimedJob[] = [];
    let mayHaveClaimed = false;
    ownClaims.expect(request.claimId);
    try {
      jobs = await (this.worker.strategy.mayShareTransaction
        ? completer.completeAndClaim(request)
        : stores.jobs.claim(request));
      mayHaveClaimed = jobs.length > 0;
      this.#observeCall(request, requestedAt, jobs.length);
    } catch (error) {
      this.#observeCall(request, requestedAt, 0, error);
      // The next poll leads to a new claim. If this one committed although its answer was lost, its lease expires.
      const { queue, workerId } = request;
      // The log of the polls reports an outage.
      const level = hasCode(error, 'STORE_UNAVAILABLE') ? 'debug' : 'warn';
      logger[level](`Cannot claim jobs of queue "${queue}": ${logText((error as Error).message)}`, { queue, workerId });
      mayHaveClaimed = (error as { outcome?: string }).outcome === 'unknown';
    }
    // Other workers can rescue the jobs if the lock was lost meanwhile.
    const ownsJobs = jobs.length > 0 && request.lockId === this.#lockId;
    if (mayHaveClaimed && !ownsJobs) await this.#markUnstarted(request);
    if (!ownsJobs) {
      ownClaims.forget(request.claimId);
      return { count: jobs.length, claimed: undefined };
    }
    const claim = new ActiveClaim(request, jobs, requestedAt);
    ownClaims.add(claim);
    return { count: jobs.length, claimed: { claim, jobs } };
  }

  #observeCall({ queue }: ClaimRequest, requestedAt: number, jobs: number, error?: unknown): void {
    const durationMs = this.parts.clock.monotonic() - requestedAt;
    this.#onDatabaseCall?.({ kind: 'claim', queue, jobs, durationMs, error });
  }

  /** No job of the claim has started or will, so a rescue shall count no attempt. If this fails, it counts one. */
  async #markUnstarted({ claimId }: ClaimRequest): Promise<void> {
    const claims = [{ id: claimId, startLimit: 0, isFinished: false }];
    const batch = { completions: [], claims, mayHaveCommitted: false, mayBeRescued: new Set<number>() };
    await this.parts.stores.jobs.complete(batch).catch(() => undefined);
  }
}

interface SequenceEntry<T> {
  /** The moment from which the claim may have chosen jobs. */
  choosingSince: number;
  /** The moment at which the claim had locked its jobs. Infinity: not yet, or unknown. */
  lockedAt: number;
  answer: { readonly value: T } | undefined;
}

/**
 * Orders the answers to the claims of one queue by the moment at which each claim chose its jobs. A claim that started
 * to choose before another one had locked its jobs may return older jobs. The jobs of the other one wait for them.
 */
class ClaimSequencer<T> {
  /** Claims whose answers were not taken yet, oldest first. */
  readonly #entries = new Set<SequenceEntry<T>>();
  #sequence = 0;

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /**
   * Whether a claim has not locked its jobs yet. A second claim at that moment costs more than it saves: each of the
   * two finds fewer jobs, and has to wait for the answer to the other.
   */
  get isChoosing(): boolean {
    return [...this.#entries].some(({ lockedAt }) => lockedAt === Infinity);
  }

  begin() {
    const entry: SequenceEntry<T> = { choosingSince: ++this.#sequence, lockedAt: Infinity, answer: undefined };
    this.#entries.add(entry);
    return {
      markChoosing: () => {
        entry.choosingSince = ++this.#sequence;
        entry.lockedAt = Infinity;
      },
      markLocked: () => void (entry.lockedAt = ++this.#sequence),
      markAnswered: (value: T) => {
        entry.lockedAt = Math.min(entry.lockedAt, ++this.#sequence);
        entry.answer = { value };
      },
    };
  }

  /** Removes and returns the answers that no other claim can precede. */
  takeReady(): T[] {
    const waiting = this.#waiting();
    const ready: T[] = [];
    for (const entry of this.#entries) {
      if (!entry.answer || waiting.has(entry)) continue;
      this.#entries.delete(entry);
      ready.push(entry.answer.value);
    }
    return ready;
  }

  /** Claims without an answer, and answered ones that must wait for one of these. */
  #waiting(): ReadonlySet<SequenceEntry<T>> {
    let waiting = new Set([...this.#entries].filter(({ answer }) => !answer));
    for (let previousSize = -1; previousSize !== waiting.size;) {
      previousSize = waiting.size;
      const earliest = Math.min(...Array.from(waiting, ({ choosingSince }) => choosingSince));
      waiting = new Set([...this.#entries].filter(({ answer, lockedAt }) => !answer || earliest < lockedAt));
    }
    return waiting;
  }
}
