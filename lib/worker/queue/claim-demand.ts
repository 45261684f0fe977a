import type { PrefetchLimits } from './prefetch-limits.js';

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

export interface QueueLoad {
  readonly freeSlots: number;
  readonly maxBatchSize: number;
  /** Jobs that are claimed and have not started, and jobs that claims under way may return. */
  readonly prefetchedCount: number;
  readonly hasRunningJobs: boolean;
}

/** Undefined: the queue worker wants no jobs now. */
export function claimDemand(
  limits: PrefetchLimits,
  { freeSlots, maxBatchSize, prefetchedCount, hasRunningJobs }: QueueLoad,
): ClaimDemand | undefined {
  const free = freeSlots * maxBatchSize;
  // No slot of this queue will become free, and the other queues may keep theirs for long.
  if (free <= 0 && !hasRunningJobs) return undefined;
  const { size, startAheadLimit, maxClaimSize } = limits;
  const room = free + size - prefetchedCount;
  const capacity = limits.maxRunning + size;
  const claimShare =
    capacity <= MAX_UNDIVIDED_CLAIM ? capacity : Math.max(MAX_UNDIVIDED_CLAIM, Math.ceil(capacity / 2));
  // For a free slot claim at once. Prefetch when half of the prefetched jobs have started, not after each job.
  if (free <= prefetchedCount && (size === 0 || room < Math.min(claimShare, size / 2))) return undefined;
  const limit = Math.min(room, claimShare, maxClaimSize, MAX_CLAIM_SIZE);
  if (limit <= 0) return undefined;
  const mayStartNone = limits.hasNoSpareAttempt && prefetchedCount > 0;
  const slots = Math.ceil(Math.max(0, Math.min(limit, free - prefetchedCount)) / maxBatchSize);
  return { limit, startLimit: mayStartNone ? 0 : Math.min(limit, free + startAheadLimit), slots };
}
