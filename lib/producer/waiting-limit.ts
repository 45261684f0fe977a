import { QueueFullError } from '../job/errors.js';
import type { CallerTransaction, JobStore } from '../store/job-store.js';
import type { Clock } from '../time/clock.js';

// How long a count is good for: jobs that others put in meanwhile are not seen. Shorter for a queue that is full, which is
// being emptied; and counting shall take no more than a part of the time. How long it took may be due to a busy event loop,
// or to a connection that was lost: nobody is refused for minutes because of that.
const GOOD_FOR_MS = 1_000;
const FULL_FOR_MS = 100;
const SHARE = 20;
const LONGEST_MS = 10_000;

interface Count {
  waiting: number;
  readonly goodUntil: number;
}

/** Back-pressure: refuses jobs for a queue in which too many wait. */
export class WaitingLimit {
  readonly #known = new Map<string, Count>();
  readonly #asking = new Map<string, Promise<Count>>();

  constructor(
    private readonly store: Pick<JobStore, 'countWaiting'>,
    private readonly clock: Clock,
  ) {}

  /**
   * Rejects with QueueFullError where the jobs would make more than `most` that wait, as far as this process knows.
   *
   * @param transaction the caller's, in which the jobs are to be put in
   */
  async admit(queue: string, jobs: number, most: number, transaction?: CallerTransaction): Promise<void> {
    const count = await this.#count(queue, most, transaction);
    checkRoom(queue, count, jobs, most);
    count.waiting += jobs;
  }

  /**
   * The same for jobs that may turn out to be there already: they count once it is known how many were put in, which what it
   * answers is to be told. Until then others do not see them.
   */
  async foresee(
    queue: string,
    jobs: number,
    most: number,
    transaction?: CallerTransaction,
  ): Promise<(put: number) => void> {
    const count = await this.#count(queue, most, transaction);
    checkRoom(queue, count, jobs, most);
    return (put) => void (count.waiting += put);
  }

  #count(queue: string, most: number, transaction: CallerTransaction | undefined): Count | Promise<Count> {
    const known = this.#good(queue);
    if (known) return known;
    // Not the count of another, which may wait for the end of this very transaction: a database in memory has one handle.
    if (transaction) return this.#ask(queue, most, transaction);
    let asking = this.#asking.get(queue);
    if (!asking) {
      asking = this.#ask(queue, most).finally(() => this.#asking.delete(queue));
      this.#asking.set(queue, asking);
    }
    return asking;
  }

  async #ask(queue: string, most: number, transaction?: CallerTransaction): Promise<Count> {
    const askedAt = this.clock.monotonic();
    const waiting = await this.store.countWaiting(queue, most, transaction);
    // Those who asked beside this one have one count among them all.
    const others = this.#good(queue);
    if (others) return others;
    const now = this.clock.monotonic();
    const goodForMs = Math.max(waiting < most ? GOOD_FOR_MS : FULL_FOR_MS, SHARE * (now - askedAt));
    const count = { waiting, goodUntil: now + Math.min(goodForMs, LONGEST_MS) };
    this.#known.set(queue, count);
    return count;
  }

  #good(queue: string): Count | undefined {
    const known = this.#known.get(queue);
    return known && this.clock.monotonic() < known.goodUntil ? known : undefined;
  }
}

function checkRoom(queue: string, { waiting }: Count, jobs: number, most: number): void {
  if (waiting + jobs > most) throw new QueueFullError(queue, waiting, most);
}
