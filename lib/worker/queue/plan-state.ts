import type { ClaimedJob } from '../../job/job.js';
import { isPoisonCandidate } from '../../job/outcome.js';
import type { ResolvedQueueOptions } from '../../job/queue-options.js';
import type { ActiveClaim } from './active-claim.js';

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
