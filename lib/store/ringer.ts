import type { Clock } from '../time/clock.js';
import { within } from '../time/within.js';

/** What to ring for. */
export interface Rings {
  readonly all: boolean;
  /** How many jobs of which queue. */
  readonly queues: ReadonlyMap<string, number>;
}

// After a round that found nobody the next one waits: a producer whose workers are all busy costs the server no more than
// 50 looks a second.
const PAUSE_MS = 20;

const CLOSE_TIMEOUT_MS = 1_000;

/** Rings in rounds: while one is under way, or was in vain a moment ago, the next rings gather, and go together. */
export class Ringer {
  #queues = new Map<string, number>();
  #all = false;
  #ringing: Promise<void> | undefined;
  #hasReached = false;
  readonly #closing = new AbortController();

  /** @param round rings, and answers how many it reached */
  constructor(
    private readonly round: (rings: Rings) => Promise<number>,
    private readonly clock: Clock,
  ) {}

  /** Whether no round is under way, and the last one has reached somebody. */
  get isAtRest(): boolean {
    return this.#ringing === undefined && this.#hasReached && !this.#closing.signal.aborted;
  }

  ring(queue: string, jobs: number): void {
    this.#queues.set(queue, (this.#queues.get(queue) ?? 0) + jobs);
    this.#begin();
  }

  ringAll(): void {
    this.#all = true;
    this.#begin();
  }

  /** Rings for what has gathered, and then no more. Does not wait long for a database that is away. */
  async close(): Promise<void> {
    this.#closing.abort();
    if (this.#ringing) await within(this.clock, CLOSE_TIMEOUT_MS, this.#ringing);
  }

  #begin(): void {
    if (!this.#closing.signal.aborted) this.#ringing ??= this.#ringOn();
  }

  async #ringOn(): Promise<void> {
    // One turn of the event loop's microtasks, so that what is enqueued together is rung for together.
    await Promise.resolve();
    while (this.#all || this.#queues.size > 0) {
      const rings = { all: this.#all, queues: this.#queues };
      this.#all = false;
      this.#queues = new Map();
      // Nobody is told of an error: the polls are there for that.
      const reached = await this.round(rings).catch(() => 0);
      this.#hasReached = reached > 0;
      if (reached === 0) await this.clock.sleep(PAUSE_MS, this.#closing.signal);
    }
    this.#ringing = undefined;
  }
}
