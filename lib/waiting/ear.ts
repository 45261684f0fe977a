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
  /** How long it need not listen after a ring. */
  readonly gap: () => number;
  readonly hear: () => void;
}

/** Listens at a doorbell of its own as long as it is wanted. What it does not hear, somebody looks for. */
export class Ear {
  readonly #loop: PollLoop;
  #works: boolean | undefined;
  #isDormant = false;
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
    // Nobody who comes cuts short how long it rests after a ring, or while the database is away.
    if (this.#isDormant) this.#loop.wake();
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    this.parts.bell.hangUp();
  }

  async #tick(stopping: AbortSignal): Promise<number> {
    const { bell, name, hear, isWanted, gap } = this.parts;
    this.#isDormant = false;
    if (!isWanted() || !(await this.#isOfUse(stopping)) || stopping.aborted) {
      bell.hangUp();
      this.#isDormant = this.#works !== false;
      return Infinity;
    }
    // What came before has to be looked for.
    const heard = await bell.listen([name], stopping, hear);
    this.#troubleMs = 0;
    if (heard === 'nothing') return 0;
    hear();
    return gap();
  }

  async #isOfUse(stopping: AbortSignal): Promise<boolean> {
    const { bell, logger } = this.parts;
    if (this.#works !== undefined) return this.#works;
    const fault = await bell.findFault(stopping);
    if (stopping.aborted) return false;
    this.#works = fault === undefined;
    if (fault !== undefined) {
      logger.log(
        `Other processes cannot tell this one what becomes of jobs (${fault}): it finds out by looking, within a second.`,
      );
    }
    return this.#works;
  }

  #troubled(): number {
    this.#troubleMs = Math.min(LONGEST_TROUBLE_MS, Math.max(SHORTEST_TROUBLE_MS, 2 * this.#troubleMs));
    return this.#troubleMs;
  }
}
