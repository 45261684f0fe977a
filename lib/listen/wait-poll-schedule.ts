import type { Clock } from '../common/clock.js';

// If no wait has started or ended for a second, the waiter polls once a second.
const MIN_INTERVAL_MS = 50;
const MAX_INTERVAL_MS = 1_000;
const JITTER = 0.2;
// A poll for very many jobs takes several statements. At most four of them are sent per second.
const INTERVAL_PER_STATEMENT_MS = 250;
const JOBS_PER_STATEMENT = 5_000;
// The gap before a poll after a notification. It doubles with each notification that brought nothing.
const MIN_GAP_MS = 5;
const MAX_GAP_MS = 40;
// With many awaited jobs, some end all the time. A poll for each would mean a hundred per second.
const MANY_JOBS = 20;
const MANY_JOBS_GAP_MS = 80;

/** Decides how often a process polls for the jobs that it waits for. */
export class WaitPollSchedule {
  #lastPollAt = -Infinity;
  #lastEventAt = 0;
  #emptyWakeUps = 0;

  constructor(
    private readonly clock: Clock,
    private readonly random: () => number,
  ) {}

  recordNewWait(): void {
    this.#lastEventAt = this.clock.monotonic();
    this.#emptyWakeUps = 0;
  }

  /** @param result `something`: a wait ended; `nothing`: none did despite a notification; `as before`: neither */
  recordPoll(result: 'something' | 'nothing' | 'as before'): void {
    this.#lastPollAt = this.clock.monotonic();
    this.#emptyWakeUps = result === 'nothing' ? this.#emptyWakeUps + 1 : 0;
    if (result === 'something') this.#lastEventAt = this.#lastPollAt;
  }

  /** The least time between polls. It lets the ends of jobs gather if there are many jobs. */
  gapMs(jobs: number): number {
    return jobs > MANY_JOBS ? MANY_JOBS_GAP_MS : 0;
  }

  /** Resolves when the next poll may start, even after a notification. */
  waitForGap(jobs: number, stopping: AbortSignal): Promise<void> {
    const minGapMs = Math.max(this.gapMs(jobs), Math.min(MAX_GAP_MS, MIN_GAP_MS * 2 ** this.#emptyWakeUps));
    return this.clock.sleep(this.#lastPollAt + minGapMs - this.clock.monotonic(), stopping);
  }

  /** The pause until the next poll without a notification: about as long as no wait has started or ended. */
  nextIntervalMs(jobs: number): number {
    const quietMs = this.clock.monotonic() - this.#lastEventAt;
    const restMs = Math.min(MAX_INTERVAL_MS, Math.max(MIN_INTERVAL_MS, quietMs));
    const statements = Math.ceil(jobs / JOBS_PER_STATEMENT);
    const intervalMs = Math.max(restMs, statements * INTERVAL_PER_STATEMENT_MS - MAX_INTERVAL_MS);
    return Math.round(intervalMs * (1 + JITTER * this.random()));
  }
}
