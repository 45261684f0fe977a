import type { ClaimedJob } from '../../job/job.js';
import { isPoisonCandidate } from '../../job/outcome.js';
import type { ActiveClaim } from './active-claim.js';

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
