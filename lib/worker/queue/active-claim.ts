import type { ClaimedJob } from '../../job/job.js';
import { claimLeaseMs, countStartable, isPoisonCandidate } from '../../job/outcome.js';
import type { ClaimProgress } from '../../store/rows/completion.js';
import type { ClaimRequest } from '../../store/rows/claim.js';

interface JobOfClaim {
  readonly id: number;
  readonly isPoisonCandidate: boolean;
}

/** A claim that this process owns: its lease, and the jobs whose outcomes have not committed. */
export class ActiveClaim {
  readonly id: number;
  readonly queue: string;
  readonly isByLock: boolean;
  // Without the jobs themselves: the payload of a job can be freed when the job ends.
  readonly #jobs: readonly JobOfClaim[];
  readonly #leaseMs: number;
  readonly #uncommittedIds: Set<number>;
  /** Ids of jobs that have an outcome, which may not be stored yet. */
  readonly #completingIds = new Set<number>();
  #leaseDeadline: number;
  #startLimit: number;
  #startedCount = 0;
  #isRaisingStartLimit = false;
  #hasDetachedJobs = false;
  #isAbandoned = false;
  #isLossLogged = false;

  /** @param requestedAt the monotonic time before the claim was sent: the lease lasts at least from then */
  constructor(request: ClaimRequest, jobs: readonly ClaimedJob[], requestedAt: number) {
    this.#jobs = jobs.map((job) => ({ id: job.id, isPoisonCandidate: isPoisonCandidate(job) }));
    this.id = request.claimId;
    this.queue = request.queue;
    this.#uncommittedIds = new Set(jobs.map((job) => job.id));
    this.#startLimit = Math.min(request.startLimit, countStartable(jobs.map(isPoisonCandidate)));
    this.#leaseMs = claimLeaseMs(request.leaseMs, jobs);
    this.isByLock = Boolean(request.lockId);
    this.#leaseDeadline = requestedAt + this.#leaseMs;
  }

  /** By the monotonic clock of this process. */
  get leaseDeadline(): number {
    return this.#leaseDeadline;
  }

  /**
   * How many jobs at the head of the claim the database has recorded as started or about to start. No other may start.
   */
  get startLimit(): number {
    return this.#startLimit;
  }

  /** Whether a job of the claim runs, or has ended without an outcome so far. */
  get hasRunningJobs(): boolean {
    return this.#jobs.slice(0, this.#startedCount).some((job) => this.#isUnfinished(job));
  }

  /** The started jobs whose outcomes have not committed. */
  get unendedIds(): number[] {
    return this.#jobs.slice(0, this.#startedCount).flatMap(({ id }) => (this.#uncommittedIds.has(id) ? [id] : []));
  }

  get isDone(): boolean {
    return this.#uncommittedIds.size === 0;
  }

  /** Jobs left the claim outside of a completion batch, so its row must be deleted apart once it is empty. */
  get isEmptied(): boolean {
    return this.isDone && this.#hasDetachedJobs && !this.#isAbandoned;
  }

  get isAbandoned(): boolean {
    return this.#isAbandoned;
  }

  hasExpired(now: number): boolean {
    return now >= this.#leaseDeadline;
  }

  /** Whether other workers may have rescued its jobs: the lease has expired, or the lock may be lost without notice. */
  mayBeRescued(now: number): boolean {
    return this.isByLock || this.hasExpired(now);
  }

  extendLease(requestedAt: number): void {
    this.#leaseDeadline = requestedAt + this.#leaseMs;
  }

  mayStart(indexInClaim: number): boolean {
    return indexInClaim < this.#startLimit;
  }

  start(indexInClaim: number): void {
    this.#startedCount = indexInClaim + 1;
  }

  /** Returns false if the start limit is being raised already. */
  beginRaisingStartLimit(): boolean {
    if (this.#isRaisingStartLimit) return false;
    this.#isRaisingStartLimit = true;
    return true;
  }

  endRaisingStartLimit(): void {
    this.#isRaisingStartLimit = false;
  }

  /** The database has recorded this start limit. */
  setStartLimit(startLimit: number): void {
    this.#startLimit = startLimit;
  }

  markCompleting(jobId: number): void {
    this.#completingIds.add(jobId);
  }

  /** The outcome of the job has committed, or the job is lost. */
  markCommitted(jobId: number): void {
    this.#uncommittedIds.delete(jobId);
  }

  /**
   * A job completes in the transaction of its handler, or is handed off. Only the database knows whether that
   * committed, so no completion batch may delete the claim as finished.
   */
  markDetached(): void {
    this.#hasDetachedJobs = true;
  }

  /**
   * This process writes nothing more to these jobs. They may still carry the id of the claim, so its row must stay
   * until the lease expires and a rescue decides about them.
   */
  abandon(jobIds: readonly number[]): void {
    this.#isAbandoned = true;
    for (const jobId of jobIds) this.#uncommittedIds.delete(jobId);
  }

  /** Returns false if the loss of the lease was logged for another job of the claim. */
  logLossOnce(): boolean {
    if (this.#isLossLogged) return false;
    this.#isLossLogged = true;
    return true;
  }

  /**
   * The progress of the claim once a batch has completed these jobs. `startAhead` jobs more than have started may start
   * then. Jobs that have an outcome without a start are skipped. A poison candidate starts only while no other job of
   * the claim runs.
   */
  progressAfter(completing: ReadonlySet<number>, startAhead: number): ClaimProgress {
    const isFinished = !this.#jobs.some(({ id }) => this.#uncommittedIds.has(id) && !completing.has(id));
    const next: { readonly index: number; readonly isPoisonCandidate: boolean }[] = [];
    for (let index = this.#startedCount; index < this.#jobs.length && next.length <= startAhead; index++) {
      const job = this.#jobs[index]!;
      if (this.#isUnfinished(job)) next.push({ index, isPoisonCandidate: job.isPoisonCandidate });
    }
    const startableCount = Math.min(startAhead, countStartable(next.map((job) => job.isPoisonCandidate)));
    const startCount = next[0]?.isPoisonCandidate ? Number(!this.hasRunningJobs) : startableCount;
    const startLimit = Math.max(this.#startLimit, startCount > 0 ? next[startCount - 1]!.index + 1 : 0);
    return { id: this.id, startLimit, isFinished: isFinished && !this.#hasDetachedJobs && !this.#isAbandoned };
  }

  #isUnfinished({ id }: JobOfClaim): boolean {
    return this.#uncommittedIds.has(id) && !this.#completingIds.has(id);
  }
}

/** Learns of each claim: the heartbeat of a thread, which cannot read the claims. */
interface ClaimObserver {
  add?(claimId: number): void;
  remove?(claimId: number): void;
}

/** The claims of this process: those that it owns, and the ids of those under way, which may have committed. */
export class OwnClaims {
  readonly #claims = new Map<number, ActiveClaim>();
  readonly #expectedIds = new Set<number>();
  #observer: ClaimObserver = {};

  setObserver(observer: ClaimObserver): void {
    this.#observer = observer;
  }

  get all(): ActiveClaim[] {
    return [...this.#claims.values()];
  }

  get(claimId: number): ActiveClaim | undefined {
    return this.#claims.get(claimId);
  }

  /** From here to `add` or `forget`, this process does not rescue the claim. */
  expect(claimId: number): void {
    this.#expectedIds.add(claimId);
  }

  forget(claimId: number): void {
    this.#expectedIds.delete(claimId);
  }

  add(claim: ActiveClaim): void {
    this.forget(claim.id);
    this.#claims.set(claim.id, claim);
    this.#observer.add?.(claim.id);
  }

  remove(claim: ActiveClaim): void {
    this.#claims.delete(claim.id);
    this.#observer.remove?.(claim.id);
  }

  isHeld(claimId: number): boolean {
    return this.#claims.has(claimId) || this.#expectedIds.has(claimId);
  }
}

/** The queues that run the jobs of the claims. */
export interface ClaimOwner {
  /** How many more jobs of the claim may start before the next completion batch. */
  startAheadLimit(claim: ActiveClaim): number;
  /** The claim is lost: it was rescued, or it can be rescued at any time. */
  abandon(claim: ActiveClaim): void;
  /** The expired lease of the claim was renewed, so its prefetched jobs can start. */
  resume(claim: ActiveClaim): void;
  /** Returns whether the job is here and was not cancelled before. */
  cancelClaimed(claim: ActiveClaim, jobId: number): boolean;
}

/** A prefetched job. */
export interface BufferedJob {
  readonly claim: ActiveClaim;
  readonly job: ClaimedJob;
  /** The position in the claim. The database records started jobs as the number of jobs at the head of the claim. */
  readonly indexInClaim: number;
}

/** Prefetched jobs of one queue, in the order in which they start. */
export class PrefetchBuffer {
  #jobs: BufferedJob[] = [];

  constructor(private readonly order: 'fifo' | 'lifo') {}

  get length(): number {
    return this.#jobs.length;
  }

  get next(): BufferedJob | undefined {
    return this.#jobs[0];
  }

  at(index: number): BufferedJob | undefined {
    return this.#jobs[index];
  }

  /**
   * Adds the jobs of one claim. `fifo` merges them by priority and id, because a job that was released, or that
   * committed late, can be older than the buffered jobs. The order within the claim stays unchanged.
   */
  add(jobs: readonly BufferedJob[]): void {
    const [first] = jobs;
    if (!first) return;
    const last = this.#jobs.at(-1);
    if (this.order === 'lifo' || !last || !isBefore(first, last)) this.#jobs.push(...jobs);
    else this.#merge(jobs);
  }

  shift(): BufferedJob {
    return this.#jobs.shift()!;
  }

  remove(matches: (buffered: BufferedJob) => boolean = () => true): BufferedJob[] {
    const removed = this.#jobs.filter(matches);
    if (removed.length > 0) this.#jobs = this.#jobs.filter((buffered) => !matches(buffered));
    return removed;
  }

  /** Merges behind the last poison candidate, because jobs that always went before it would delay it for ever. */
  #merge(jobs: readonly BufferedJob[]): void {
    let from = this.#jobs.length;
    while (from > 0 && !isPoisonCandidate(this.#jobs[from - 1]!.job)) from--;
    const existing = this.#jobs.splice(from);
    let mergedCount = 0;
    for (const buffered of jobs) {
      while (mergedCount < existing.length && !isBefore(buffered, existing[mergedCount]!))
        this.#jobs.push(existing[mergedCount++]!);
      this.#jobs.push(buffered);
    }
    this.#jobs.push(...existing.slice(mergedCount));
  }
}

/** Poison candidates start after all other jobs. */
function isBefore({ job: one }: BufferedJob, { job: other }: BufferedJob): boolean {
  if (isPoisonCandidate(one) || isPoisonCandidate(other)) return !isPoisonCandidate(one);
  return one.priority === other.priority ? one.id < other.id : one.priority < other.priority;
}
