import type { ClaimedJob } from '../../job/job.js';
import { isPoisonCandidate } from '../../job/outcome.js';
import type { ResolvedQueueOptions } from '../../job/queue-options.js';
import type { ActiveClaim, BufferedJob } from './active-claim.js';

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
// With room for more jobs than this, one claim asks for half of the room. The next claim is then answered while the
// jobs of the first one run.
const MAX_UNDIVIDED_CLAIM = 100;
// Larger claims cost hardly less for each job.
const MAX_CLAIM_SIZE = 1_000;

/** All that a queue worker knows when it decides. */
export interface PlanState {
  readonly options: Pick<ResolvedQueueOptions, 'prefetch' | 'leaseMs' | 'retry' | 'groups'>;
  /** The largest number of jobs in one call of a handler. */
  readonly maxBatchSize: number;
  /** False while the queue is paused or removed, or while the worker stops. */
  readonly isOpen: boolean;
  /** A rest of the queue is being stored. Jobs that were claimed before have to be released. */
  readonly isResting: boolean;
  readonly slots: { readonly limit: number; readonly free: number };
  readonly buffer: {
    readonly length: number;
    readonly next: BufferedJob | undefined;
    at(index: number): BufferedJob | undefined;
  };
  readonly runs: { readonly isIdle: boolean; readonly isPoisonRunning: boolean; batchSizeOf(name: string): number };
  readonly claims: {
    /** Whether there may be jobs to claim. */
    readonly isAnnounced: boolean;
    readonly mayBegin: boolean;
    /** The jobs that claims under way may return. */
    readonly expectedJobs: number;
  };
  /** Undefined: no limits and groups are known. `opensAt`: when they allow more jobs, by the monotonic clock. */
  readonly gate: { readonly isLimited: boolean; readonly opensAt: number } | undefined;
  /** Undefined before the first job. */
  readonly averages: { readonly runMs: number | undefined; readonly payloadBytes: number | undefined };
}

/** The jobs to claim. */
export interface ClaimDemand {
  readonly limit: number;
  /** How many of the jobs may start before the next completion batch. */
  readonly startLimit: number;
  /** How many free slots the jobs will use. */
  readonly slots: number;
}

export interface Plan {
  /** So many jobs of the buffer start now, in one call of their handler. Then the worker makes another plan. */
  readonly start: number;
  /** What the next job waits for, although a slot is free. */
  readonly awaits: 'lease' | 'start limit' | 'other runs' | undefined;
  readonly claim: ClaimDemand | undefined;
  /** The worker wakes at this time, unless something happens before. */
  readonly waitUntil: number;
}

// Almost all plans are one of these two, so they cost no memory.
const NOTHING: Plan = { start: 0, awaits: undefined, claim: undefined, waitUntil: Infinity };
const START_ONE: Plan = { ...NOTHING, start: 1 };

/** The next step of a queue worker: start jobs; if none can start, claim some; if none are wanted, wait. */
export function plan(state: PlanState, now: number): Plan {
  if (!state.isOpen) return NOTHING;
  const next = state.slots.free > 0 && !state.runs.isPoisonRunning ? state.buffer.next : undefined;
  const awaits = next && awaitedBy(next, state, now);
  if (next && awaits === undefined) {
    const start = batchSize(next, state, now);
    return start === 1 ? START_ONE : { ...NOTHING, start };
  }
  const claim = claimDemand(state);
  const waitUntil = state.gate?.opensAt ?? Infinity;
  return awaits || claim || waitUntil < Infinity ? { start: 0, awaits, claim, waitUntil } : NOTHING;
}

/** A poison candidate runs alone, so jobs that were claimed now would wait for it. */
export function waitsForPoisonCandidate({ runs, buffer: { next } }: Pick<PlanState, 'runs' | 'buffer'>): boolean {
  return runs.isPoisonRunning || (next !== undefined && isPoisonCandidate(next.job));
}

/** Undefined: no jobs are wanted, or none may be claimed now. */
export function claimDemand(state: PlanState): ClaimDemand | undefined {
  const { isOpen, isResting, claims, slots, buffer, runs, maxBatchSize } = state;
  if (!isOpen || isResting || waitsForPoisonCandidate(state)) return undefined;
  if (!claims.isAnnounced || !claims.mayBegin) return undefined;
  const free = slots.free * maxBatchSize;
  // No slot of this queue will become free, and the other queues may keep theirs for long.
  if (free <= 0 && runs.isIdle) return undefined;
  const prefetched = buffer.length + claims.expectedJobs;
  const size = prefetchSize(state);
  const room = free + size - prefetched;
  const capacity = maxRunning(state) + size;
  const claimShare =
    capacity <= MAX_UNDIVIDED_CLAIM ? capacity : Math.max(MAX_UNDIVIDED_CLAIM, Math.ceil(capacity / 2));
  // For a free slot claim at once. Prefetch when half of the prefetched jobs have started, not after each job.
  if (free <= prefetched && (size === 0 || room < Math.min(claimShare, size / 2))) return undefined;
  const limit = Math.min(room, claimShare, maxClaimSize(state), MAX_CLAIM_SIZE);
  if (limit <= 0) return undefined;
  const mayStartNone = hasNoSpareAttempt(state) && prefetched > 0;
  return {
    limit,
    startLimit: mayStartNone ? 0 : Math.min(limit, free + startAheadLimit(state)),
    slots: Math.ceil(Math.max(0, Math.min(limit, free - prefetched)) / maxBatchSize),
  };
}

/** How many jobs to claim beyond the free slots. The shorter the jobs, the more. */
export function prefetchSize(state: SizeState): number {
  const { prefetch, leaseMs, groups } = state.options;
  // A prefetched job would use the limits of the queue, or a place in its group, before it starts.
  const isGroupLimited = groups !== null && groups.concurrency !== null;
  if (state.gate?.isLimited || isGroupLimited) return 0;
  if (prefetch !== 'auto') return prefetch;
  // Up to a tenth of the lease, so that no lease expires in the buffer.
  const startable = countStartableWithin(Math.min(PREFETCH_WINDOW_MS, leaseMs / 10), state);
  return Math.min(MAX_PREFETCH, maxClaimSize(state), startable);
}

export function maxClaimSize({ averages: { payloadBytes } }: Pick<SizeState, 'averages'>): number {
  if (payloadBytes === undefined) return FIRST_CLAIM_SIZE;
  return Math.max(1, Math.floor(MAX_CLAIM_BYTES / (payloadBytes + 1)));
}

/**
 * How many jobs may start before the next batch. If the process dies, each of them has used an attempt, whether it
 * started or not. This price for fewer round trips is acceptable only if jobs have attempts to spare.
 */
export function startAheadLimit(state: SizeState): number {
  if (hasNoSpareAttempt(state)) return maxRunning(state);
  return Math.max(maxRunning(state), Math.min(MAX_START_AHEAD, countStartableWithin(START_AHEAD_WINDOW_MS, state)));
}

/**
 * Like `startAheadLimit`, for one claim: if jobs have no spare attempt, only for the claim whose jobs start next.
 *
 * @param state undefined: this process no longer works the queue
 */
export function startAheadLimitOf(claim: ActiveClaim, state: PlanState | undefined): number {
  if (!state) return 0;
  const { next } = state.buffer;
  const mayStartNone = hasNoSpareAttempt(state) && next && next.claim !== claim;
  return mayStartNone ? 0 : startAheadLimit(state);
}

type SizeState = Pick<PlanState, 'options' | 'maxBatchSize' | 'averages' | 'gate'> & {
  readonly slots: Pick<PlanState['slots'], 'limit'>;
};

function awaitedBy({ claim, job, indexInClaim }: BufferedJob, { runs }: PlanState, now: number): Plan['awaits'] {
  if (claim.hasExpired(now)) return 'lease';
  if (isPoisonCandidate(job) && (!runs.isIdle || claim.hasRunningJobs)) return 'other runs';
  return claim.mayStart(indexInClaim) ? undefined : 'start limit';
}

/** How many jobs from the first one on start in one call of its handler. */
function batchSize({ job: first }: BufferedJob, { runs, buffer, maxBatchSize }: PlanState, now: number): number {
  if (maxBatchSize === 1 || isPoisonCandidate(first)) return 1;
  const maxSize = runs.batchSizeOf(first.name);
  let size = 1;
  while (size < maxSize && fitsBatch(buffer.at(size), first.name, now)) size++;
  return size;
}

function fitsBatch(buffered: BufferedJob | undefined, name: string, now: number): boolean {
  if (!buffered) return false;
  const { claim, job, indexInClaim } = buffered;
  return job.name === name && claim.mayStart(indexInClaim) && !claim.hasExpired(now) && !isPoisonCandidate(job);
}

/** Jobs have one or two attempts. */
function hasNoSpareAttempt({ options }: SizeState): boolean {
  return options.retry.attempts <= 2;
}

/** How many jobs can run at once. */
function maxRunning({ slots, maxBatchSize }: SizeState): number {
  return slots.limit * maxBatchSize;
}

function countStartableWithin(ms: number, state: SizeState): number {
  const { runMs } = state.averages;
  return runMs === undefined ? 0 : Math.floor((maxRunning(state) * ms) / Math.max(runMs, 0.5));
}

/** The slots of one queue in this process, and the jobs in its prefetch buffer. */
export interface QueueOccupancy {
  readonly queue: string;
  /** How many calls of its handlers may run at once: its `concurrency`. */
  readonly slots: number;
  /** How many of them run. A batch is one call. */
  readonly busy: number;
  readonly prefetched: number;
}

/** How many handler calls may run at once in this process, over all its queues. */
export class Slots {
  #used = 0;
  #reserved = 0;

  constructor(private readonly total: number) {}

  get free(): number {
    return this.total - this.#used - this.#reserved;
  }

  /** Keeps slots free for jobs that are being claimed. */
  reserve(slots: number): void {
    this.#reserved += slots;
  }

  acquire(): void {
    this.#used++;
  }

  release(): void {
    this.#used--;
  }
}

/** Slots that no other queue can use while a claim fetches jobs for them. */
export interface SlotReservation {
  resize(slots: number): void;
  release(): void;
}

/** The slots of one queue: at most `concurrency`, and no more than the process has. */
export class QueueSlots {
  #used = 0;
  #reserved = 0;

  constructor(
    private readonly processSlots: Slots,
    private concurrency: number,
  ) {}

  /** Includes the slots that this queue has reserved. */
  get free(): number {
    const free = Math.min(this.processSlots.free + this.#reserved, this.concurrency - this.#used);
    return Math.max(0, free);
  }

  get used(): number {
    return this.#used;
  }

  get limit(): number {
    return this.concurrency;
  }

  setConcurrency(concurrency: number): void {
    this.concurrency = concurrency;
  }

  acquire(): void {
    this.#used++;
    this.processSlots.acquire();
  }

  release(): void {
    this.#used--;
    this.processSlots.release();
  }

  reserve(slots: number): SlotReservation {
    let reserved = 0;
    const resize = (size: number) => {
      this.#reserved += size - reserved;
      this.processSlots.reserve(size - reserved);
      reserved = size;
    };
    resize(slots);
    return { resize, release: () => resize(0) };
  }
}

// The weight of a new run time in the moving average.
const RUN_TIME_WEIGHT = 0.1;

/** How long the jobs of one queue run, and how large they are. Undefined before the first job. */
export class JobAverages {
  #runMs: number | undefined;
  #payloadBytes: number | undefined;

  get runMs(): number | undefined {
    return this.#runMs;
  }

  /** Of the last claim. */
  get payloadBytes(): number | undefined {
    return this.#payloadBytes;
  }

  recordRunTime(ranMs: number): void {
    this.#runMs = this.#runMs === undefined ? ranMs : this.#runMs + RUN_TIME_WEIGHT * (ranMs - this.#runMs);
  }

  recordPayloadSizes(jobs: readonly ClaimedJob[]): void {
    this.#payloadBytes = jobs.reduce((sum, { payload }) => sum + payload.length, 0) / jobs.length;
  }
}
