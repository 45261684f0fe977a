import type { JobLogger } from '../runtime/job-logger.js';
import { PollLoop } from '../runtime/poll-loop.js';
import type { Doorbell } from '../store/doorbell.js';
import type { Clock } from '../time/clock.js';

const SHORTEST_TROUBLE_MS = 1_000;
const LONGEST_TROUBLE_MS = 30_000;

export interface EarParts {
  readonly bell: Doorbell;
  /** What is listened to. */
  readonly name: string;
  readonly clock: Clock;
  readonly logger: JobLogger;
  readonly isWanted: () => boolean;
  readonly hear: () => void;
}

/** Listens at a doorbell of its own as long as it is wanted. What it does not hear, somebody looks for. */
export class Ear {
  readonly #loop: PollLoop;
  #works: boolean | undefined;
  #isListening = false;
  #troubleMs = 0;

  constructor(private readonly parts: EarParts) {
    this.#loop = new PollLoop(
      (stopping) => this.#tick(stopping),
      parts.clock,
      () => this.#troubled(),
    );
  }

  /** It is wanted. */
  listen(): void {
    this.#loop.start();
    if (!this.#isListening) this.#loop.wake();
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    this.parts.bell.hangUp();
  }

  async #tick(stopping: AbortSignal): Promise<number> {
    const { bell, name, hear, isWanted } = this.parts;
    if (!isWanted() || !(await this.#isOfUse(stopping)) || stopping.aborted) {
      bell.hangUp();
      return Infinity;
    }
    this.#isListening = true;
    try {
      // What came before has to be looked for.
      if ((await bell.listen([name], stopping, hear)) !== 'nothing') hear();
    } finally {
      this.#isListening = false;
    }
    this.#troubleMs = 0;
    return 0;
  }

  async #isOfUse(stopping: AbortSignal): Promise<boolean> {
    const { bell, logger } = this.parts;
    if (this.#works !== undefined) return this.#works;
    const fault = await bell.findFault(stopping);
    if (stopping.aborted) return false;
    this.#works = fault === undefined;
    if (fault !== undefined) {
      logger.log(
        `Other processes cannot tell this one that a job has ended (${fault}): it finds out by looking, within a second.`,
      );
    }
    return this.#works;
  }

  #troubled(): number {
    this.#troubleMs = Math.min(LONGEST_TROUBLE_MS, Math.max(SHORTEST_TROUBLE_MS, 2 * this.#troubleMs));
    return this.#troubleMs;
  }
}
