import { QueueFullError } from '../job/errors.js';
import type { JobStore } from '../store/job-store.js';
import type { Clock } from '../time/clock.js';

// How long a count is good for: jobs that others put in meanwhile are not seen. Shorter for a queue that is full, which is
// being emptied; and counting shall take no more than a part of the time.
const GOOD_FOR_MS = 1_000;
const FULL_FOR_MS = 100;
const SHARE = 20;

interface Count {
  waiting: number;
  readonly goodUntil: number;
}

/** Back-pressure: refuses jobs for a queue in which too many wait. */
export class WaitingLimit {
  readonly #counts = new Map<string, Promise<Count>>();

  constructor(
    private readonly store: Pick<JobStore, 'countWaiting'>,
    private readonly clock: Clock,
  ) {}

  /** Rejects with QueueFullError where the jobs would make more than `most` that wait, as far as this process knows. */
  async admit(queue: string, jobs: number, most: number): Promise<void> {
    const count = await this.#count(queue, most);
    checkRoom(queue, count, jobs, most);
    count.waiting += jobs;
  }

  /**
   * The same for jobs that may turn out to be there already: they count once it is known how many were put in, which what it
   * answers is to be told. Until then others do not see them.
   */
  async foresee(queue: string, jobs: number, most: number): Promise<(put: number) => void> {
    const count = await this.#count(queue, most);
    checkRoom(queue, count, jobs, most);
    return (put) => void (count.waiting += put);
  }

  async #count(queue: string, most: number): Promise<Count> {
    const known = this.#counts.get(queue);
    if (known) {
      const count = await known.catch(() => undefined);
      if (count && this.clock.monotonic() < count.goodUntil) return count;
    }
    // Whoever comes while it is counted waits for the same count.
    if (this.#counts.get(queue) === known) this.#counts.set(queue, this.#ask(queue, most));
    return this.#counts.get(queue)!;
  }

  async #ask(queue: string, most: number): Promise<Count> {
    const askedAt = this.clock.monotonic();
    const waiting = await this.store.countWaiting(queue, most);
    const now = this.clock.monotonic();
    const goodForMs = Math.max(waiting < most ? GOOD_FOR_MS : FULL_FOR_MS, SHARE * (now - askedAt));
    return { waiting, goodUntil: now + goodForMs };
  }
}

function checkRoom(queue: string, { waiting }: Count, jobs: number, most: number): void {
  if (waiting + jobs > most) throw new QueueFullError(queue, waiting, most);
}
