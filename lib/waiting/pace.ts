import type { Clock } from '../time/clock.js';

// Where nothing has begun or ended for a second, once a second.
const SHORTEST_REST_MS = 50;
const LONGEST_REST_MS = 1_000;
const JITTER = 0.2;
// A look for very many jobs takes several statements: no more than four a second of these.
const REST_PER_STATEMENT_MS = 250;
const JOBS_PER_STATEMENT = 5_000;
// Whoever is rung without end, and in vain, does not look without end.
const SHORTEST_GAP_MS = 5;
const LONGEST_GAP_MS = 40;
// Of so many jobs some end all the time: then a look for each would be a hundred a second.
const CROWD = 20;
const CROWD_GAP_MS = 80;

/** How often a process looks what became of the jobs that it waits for. */
export class Pace {
  #lastLookAt = -Infinity;
  #lastEventAt = 0;
  #vain = 0;

  constructor(
    private readonly clock: Clock,
    private readonly random: () => number,
  ) {}

  /** Another job is waited for. */
  begun(): void {
    this.#lastEventAt = this.clock.monotonic();
    this.#vain = 0;
  }

  /** @param seen `nothing`: though somebody said that there is something to see; `as before`: nobody had */
  looked(seen: 'something' | 'nothing' | 'as before'): void {
    this.#lastLookAt = this.clock.monotonic();
    this.#vain = seen === 'nothing' ? this.#vain + 1 : 0;
    if (seen === 'something') this.#lastEventAt = this.#lastLookAt;
  }

  /** How long those that end have to wait for one another, where so many are waited for that it pays. */
  gap(jobs: number): number {
    return jobs > CROWD ? CROWD_GAP_MS : 0;
  }

  /** Until the next look may come, also where somebody rings. */
  hold(jobs: number, stopping: AbortSignal): Promise<void> {
    const gapMs = Math.max(this.gap(jobs), Math.min(LONGEST_GAP_MS, SHORTEST_GAP_MS * 2 ** this.#vain));
    return this.clock.sleep(this.#lastLookAt + gapMs - this.clock.monotonic(), stopping);
  }

  /** Until the next look comes by itself: about as long as nothing has begun or ended. */
  rest(jobs: number): number {
    const quietMs = this.clock.monotonic() - this.#lastEventAt;
    const restMs = Math.min(LONGEST_REST_MS, Math.max(SHORTEST_REST_MS, quietMs));
    const statements = Math.ceil(jobs / JOBS_PER_STATEMENT);
    const longEnoughMs = Math.max(restMs, statements * REST_PER_STATEMENT_MS - LONGEST_REST_MS);
    return Math.round(longEnoughMs * (1 + JITTER * this.random()));
  }
}
