import type { Clock } from '../time/clock.js';

/** One unit of work; answers how many milliseconds to rest before the next. */
export type Tick = (stopping: AbortSignal) => Promise<number>;

/** Runs a tick over and over until stopped. Every loop in the library is one of these. */
export class PollLoop {
  readonly #stopping = new AbortController();
  #bell = new AbortController();
  #running?: Promise<void>;

  constructor(
    private readonly tick: Tick,
    private readonly clock: Clock,
    private readonly onError: (error: unknown) => number,
  ) {}

  start(): void {
    this.#running ??= this.#run();
  }

  /** Cuts the current rest short. Rung during a tick, it skips the next rest. */
  wake(): void {
    this.#bell.abort();
  }

  /** Resolves when no tick runs any more. May be called twice, or before the start. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      this.#bell = new AbortController();
      const rest = await this.tick(this.#stopping.signal).catch(this.onError);
      if (!this.#stopping.signal.aborted) await this.clock.sleep(rest, this.#bell.signal);
    }
  }
}
