import { QueueFullError } from '../job/errors.js';
import type { CallerTransaction, JobStore } from '../store/verbs/job-store.js';
import type { Clock } from '../common/clock.js';

// A count misses the jobs that other processes enqueue while it is valid. A full queue is counted again sooner, because
// workers are emptying it.
const COUNT_TTL_MS = 1_000;
const FULL_COUNT_TTL_MS = 100;
// Counting takes at most a twentieth of the time. A busy event loop or a lost connection can make a count look slow, so
// the cap prevents that one such count rejects jobs for minutes.
const TTL_PER_COUNT_DURATION = 20;
const MAX_COUNT_TTL_MS = 10_000;

interface Count {
  waiting: number;
  readonly validUntil: number;
}

/** Back-pressure: rejects jobs for a queue in which `maxWaiting` jobs wait. */
export class WaitingLimit {
  readonly #counts = new Map<string, Count>();
  readonly #countsInFlight = new Map<string, Promise<Count>>();

  constructor(
    private readonly store: Pick<JobStore, 'countWaiting'>,
    private readonly clock: Clock,
  ) {}

  /**
   * Rejects with QueueFullError if more than `maxWaiting` jobs would wait, as far as this process knows.
   *
   * @param countNow the jobs to count as waiting from now on. 0 for jobs with keys, some of which may turn out to exist
   * @returns counts this many more jobs as waiting
   */
  async admit(
    queue: string,
    jobs: number,
    maxWaiting: number,
    transaction?: CallerTransaction,
    countNow = jobs,
  ): Promise<(more: number) => void> {
    const count = await this.#count(queue, maxWaiting, transaction);
    // No await follows the check: concurrent calls would pass it together.
    if (count.waiting + jobs > maxWaiting) throw new QueueFullError(queue, count.waiting, maxWaiting);
    count.waiting += countNow;
    return (more) => void (count.waiting += more);
  }

  #count(queue: string, maxWaiting: number, transaction: CallerTransaction | undefined): Count | Promise<Count> {
    const known = this.#validCount(queue);
    if (known) return known;
    // A count in flight may wait for the end of this transaction, because a database in memory has one handle.
    if (transaction) return this.#query(queue, maxWaiting, transaction);
    let inFlight = this.#countsInFlight.get(queue);
    if (!inFlight) {
      inFlight = this.#query(queue, maxWaiting).finally(() => this.#countsInFlight.delete(queue));
      this.#countsInFlight.set(queue, inFlight);
    }
    return inFlight;
  }

  async #query(queue: string, maxWaiting: number, transaction?: CallerTransaction): Promise<Count> {
    const startedAt = this.clock.monotonic();
    const waiting = await this.store.countWaiting(queue, maxWaiting, transaction);
    // Concurrent queries share one count, so that each sees the jobs that the others admit.
    const newer = this.#validCount(queue);
    if (newer) return newer;
    const now = this.clock.monotonic();
    const ttlMs = Math.max(
      waiting < maxWaiting ? COUNT_TTL_MS : FULL_COUNT_TTL_MS,
      TTL_PER_COUNT_DURATION * (now - startedAt),
    );
    const count = { waiting, validUntil: now + Math.min(ttlMs, MAX_COUNT_TTL_MS) };
    this.#counts.set(queue, count);
    return count;
  }

  #validCount(queue: string): Count | undefined {
    const known = this.#counts.get(queue);
    return known && this.clock.monotonic() < known.validUntil ? known : undefined;
  }
}
