import { inRootContext } from '../../common/async-context.js';
import type { Clock } from '../../common/clock.js';
import { withTimeout } from '../../common/abort.js';

export interface PendingNotifications {
  readonly all: boolean;
  /** The number of new jobs by queue. */
  readonly queues: ReadonlyMap<string, number>;
}

// The pause after a round without a listener: a producer whose workers are all busy costs the server at most 50 rounds
// per second.
const EMPTY_ROUND_PAUSE_MS = 20;

const CLOSE_TIMEOUT_MS = 1_000;

/** Sends in rounds. Notifications that arrive during a round, or the pause after an empty one, share the next. */
export class NotificationSender {
  #queues = new Map<string, number>();
  #all = false;
  #sending: Promise<void> | undefined;
  #hasReachedListener = false;
  readonly #closing = new AbortController();

  /** @param send sends one round and returns the number of listeners it reached */
  constructor(
    private readonly send: (pending: PendingNotifications) => Promise<number>,
    private readonly clock: Clock,
  ) {}

  /** Whether no round runs and the last one reached a listener. */
  get isIdle(): boolean {
    return this.#sending === undefined && this.#hasReachedListener && !this.#closing.signal.aborted;
  }

  notify(queue: string, jobs: number): void {
    this.#queues.set(queue, (this.#queues.get(queue) ?? 0) + jobs);
    this.#start();
  }

  notifyAll(): void {
    this.#all = true;
    this.#start();
  }

  /** Waits at most 1 s for an unreachable database. */
  async close(): Promise<void> {
    this.#closing.abort();
    if (this.#sending) await withTimeout(this.clock, CLOSE_TIMEOUT_MS, this.#sending);
  }

  #start(): void {
    if (!this.#closing.signal.aborted) this.#sending ??= inRootContext(() => this.#sendPending());
  }

  async #sendPending(): Promise<void> {
    // Waits for one microtask, so that jobs enqueued together share a round.
    await Promise.resolve();
    while (this.#all || this.#queues.size > 0) {
      const pending = { all: this.#all, queues: this.#queues };
      this.#all = false;
      this.#queues = new Map();
      // Errors are dropped: polling finds the jobs.
      const reached = await this.send(pending).catch(() => 0);
      this.#hasReachedListener = reached > 0;
      if (reached === 0) await this.clock.sleep(EMPTY_ROUND_PAUSE_MS, this.#closing.signal);
    }
    this.#sending = undefined;
  }
}
