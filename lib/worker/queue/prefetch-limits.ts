import type { ClaimedJob } from '../../job/job.js';
import type { ResolvedQueueOptions } from '../../job/queue-options.js';
import type { QueueSlots } from './queue-slots.js';

// Prefetched jobs should start within this time, so that several workers share a short queue.
const PREFETCH_WINDOW_MS = 100;
const MAX_PREFETCH = 1_000;
// Keeps one claim from filling the memory with large payloads. Before the first payload is known, claims are small.
const MAX_CLAIM_BYTES = 8_000_000;
const FIRST_CLAIM_SIZE = 100;
// Jobs up to the start limit should start within this time. It is about as long as writing a full completion batch,
// which further jobs have to await.
const START_AHEAD_WINDOW_MS = 25;
const MAX_START_AHEAD = 500;
// The weight of a new run time in the moving average.
const RUN_TIME_WEIGHT = 0.1;

// With room for more jobs than this, one claim asks for half of the room. The next claim is then answered while the
// jobs of the first one run.
const MAX_UNDIVIDED_CLAIM = 100;
// Larger claims cost hardly less for each job.
const MAX_CLAIM_SIZE = 1_000;

export interface ClaimDemand {
  readonly limit: number;
  /** How many of the jobs may start before the next completion batch. */
  readonly startLimit: number;
  /** How many free slots the jobs will use. */
  readonly slots: number;
}

/** Limits how many jobs are prefetched, and how many start before the next batch. The shorter the jobs, the more. */
export class PrefetchLimits {
  #averageRunMs: number | undefined;
  #averageBytes: number | undefined;
  #mayPrefetch = true;

  constructor(
    private readonly options: Pick<ResolvedQueueOptions, 'prefetch' | 'leaseMs' | 'retry' | 'groups'>,
    private readonly slots: Pick<QueueSlots, 'limit' | 'free'>,
    private readonly maxBatchSize: number,
  ) {}

  /** How many jobs can run at once. */
  get maxRunning(): number {
    return this.slots.limit * this.maxBatchSize;
  }

  setPrefetching(mayPrefetch: boolean): void {
    this.#mayPrefetch = mayPrefetch;
  }

  recordRunTime(ranMs: number): void {
    this.#averageRunMs =
      this.#averageRunMs === undefined ? ranMs : this.#averageRunMs + RUN_TIME_WEIGHT * (ranMs - this.#averageRunMs);
  }

  recordPayloadSizes(jobs: readonly ClaimedJob[]): void {
    this.#averageBytes = jobs.reduce((sum, { payload }) => sum + payload.length, 0) / jobs.length;
  }

  get maxClaimSize(): number {
    if (this.#averageBytes === undefined) return FIRST_CLAIM_SIZE;
    return Math.max(1, Math.floor(MAX_CLAIM_BYTES / (this.#averageBytes + 1)));
  }

  get size(): number {
    const { prefetch, leaseMs } = this.options;
    // A prefetched job takes a place in its group before it starts.
    const isGroupLimited = this.options.groups !== null && this.options.groups.concurrency !== null;
    if (!this.#mayPrefetch || isGroupLimited) return 0;
    if (prefetch !== 'auto') return prefetch;
    // Up to a tenth of the lease, so that no lease expires in the buffer.
    return Math.min(
      MAX_PREFETCH,
      this.maxClaimSize,
      this.#countStartableWithin(Math.min(PREFETCH_WINDOW_MS, leaseMs / 10)),
    );
  }

  /**
   * How many jobs may start before the next batch. If the process dies, each of them has used an attempt, whether it
   * started or not. This price for fewer round trips is acceptable only if jobs have attempts to spare.
   */
  get startAheadLimit(): number {
    if (this.hasNoSpareAttempt) return this.maxRunning;
    return Math.max(this.maxRunning, Math.min(MAX_START_AHEAD, this.#countStartableWithin(START_AHEAD_WINDOW_MS)));
  }

  /** Jobs have one or two attempts. Only the claim whose jobs start next may raise its start limit ahead of time. */
  get hasNoSpareAttempt(): boolean {
    return this.options.retry.attempts <= 2;
  }

  /**
   * The jobs to claim now; undefined for none.
   *
   * @param prefetchedCount jobs that are claimed and have not started, and jobs that claims under way may return
   */
  demand(prefetchedCount: number, hasRunningJobs: boolean): ClaimDemand | undefined {
    const free = this.slots.free * this.maxBatchSize;
    // No slot of this queue will become free, and the other queues may keep theirs for long.
    if (free <= 0 && !hasRunningJobs) return undefined;
    const { size, maxRunning } = this;
    const room = free + size - prefetchedCount;
    const capacity = maxRunning + size;
    const claimShare =
      capacity <= MAX_UNDIVIDED_CLAIM ? capacity : Math.max(MAX_UNDIVIDED_CLAIM, Math.ceil(capacity / 2));
    // For a free slot claim at once. Prefetch when half of the prefetched jobs have started, not after each job.
    if (free <= prefetchedCount && (size === 0 || room < Math.min(claimShare, size / 2))) return undefined;
    const limit = Math.min(room, claimShare, this.maxClaimSize, MAX_CLAIM_SIZE);
    if (limit <= 0) return undefined;
    const mayStartNone = this.hasNoSpareAttempt && prefetchedCount > 0;
    const slots = Math.ceil(Math.max(0, Math.min(limit, free - prefetchedCount)) / this.maxBatchSize);
    return { limit, startLimit: mayStartNone ? 0 : Math.min(limit, free + this.startAheadLimit), slots };
  }

  #countStartableWithin(ms: number): number {
    return this.#averageRunMs === undefined
      ? 0
      : Math.floor((this.maxRunning * ms) / Math.max(this.#averageRunMs, 0.5));
  }
}
