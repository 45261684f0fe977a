import { ENDED } from './abort.js';
import { inRootContext } from './async-context.js';
import type { Clock } from './clock.js';

/** One unit of work. Returns the pause before the next one, in milliseconds. */
export type Tick = (stopping: AbortSignal) => Promise<number>;

/** Runs a tick again and again until it is stopped. `wake` ends the pause between two ticks. */
export class PollLoop {
  readonly #stopping = new AbortController();
  #wakeController = new AbortController();
  #running?: Promise<void>;

  /** @param onError returns the pause after a tick that rejected, in milliseconds */
  constructor(
    private readonly tick: Tick,
    private readonly clock: Clock,
    private readonly onError: (error: unknown) => number,
  ) {}

  start(): void {
    this.#running ??= inRootContext(() => this.#run());
  }

  /** Ends the current pause. During a tick, it skips the next pause. */
  wake(): void {
    this.#wakeController.abort(ENDED);
  }

  /** Resolves when no tick runs any more. May be called twice, or before `start`. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      this.#wakeController = new AbortController();
      const restMs = await this.tick(this.#stopping.signal).catch(this.onError);
      if (!this.#stopping.signal.aborted) await this.clock.sleep(restMs, this.#wakeController.signal);
    }
  }
}
