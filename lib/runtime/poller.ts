import type { JobStore, Rescued, RescueRules, Survey } from '../store/job-store.js';
import type { Clock } from '../time/clock.js';
import type { JobLogger } from './job-logger.js';
import { PollLoop } from './poll-loop.js';

const PROMOTE_BATCH = 500;
// A rest is up to so much longer than planned, so that many processes do not ask in step.
const JITTER = 0.2;

export interface PollerParts {
  readonly store: JobStore;
  readonly clock: Clock;
  readonly logger: JobLogger;
  readonly random: () => number;
  readonly queues: readonly string[];
  readonly minMs: number;
  readonly maxMs: number;
  readonly rules: RescueRules;
  /** True where the queue has jobs that this process can take now. */
  readonly onQueue: (queue: string, seen: { waiting: boolean; paused: boolean }) => boolean;
  readonly onRescued: (rescued: readonly Rescued[]) => void;
}

/**
 * Looks, with one statement for all queues of this process, what there is to do: jobs to claim, jobs that are due, leases
 * that have lapsed. Rests longer and longer while there is nothing, and never past the next due time it knows of.
 */
export class Poller {
  readonly #loop: PollLoop;
  #restMs: number;
  #restingUntil = Infinity;
  #unreachable = false;
  #lookers: ((found: boolean) => void)[] = [];

  constructor(private readonly parts: PollerParts) {
    this.#restMs = parts.minMs;
    this.#loop = new PollLoop(
      () => this.#tick(),
      parts.clock,
      (error) => this.#failed(error),
    );
  }

  start(): void {
    this.#loop.start();
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    this.#lookers.splice(0).forEach((answer) => answer(false));
  }

  wake(): void {
    this.#restMs = this.parts.minMs;
    this.#loop.wake();
  }

  /** Looks now, and answers whether there was anything to do. */
  look(): Promise<boolean> {
    return new Promise((resolve) => {
      this.#lookers.push(resolve);
      this.wake();
    });
  }

  /** A job will be due in so many milliseconds: do not sleep past that. */
  expectDue(ms: number): void {
    if (this.parts.clock.monotonic() + ms < this.#restingUntil) this.wake();
  }

  async #tick(): Promise<number> {
    this.#restingUntil = Infinity;
    const { store, queues, clock } = this.parts;
    // Whoever asks from here on wants a later look than this one.
    const asked = this.#lookers.length;
    const survey = await store.survey(queues);
    this.#reached();
    let waiting = false;
    for (const queue of queues) {
      // A queue whose row is gone is asked for jobs rather than forgotten.
      const takes = this.parts.onQueue(queue, survey.queues.get(queue) ?? { waiting: true, paused: false });
      waiting ||= takes;
    }
    const moved = (await this.#promoteDue(survey)) + (await this.#rescueLapsed(survey));
    this.#lookers.splice(0, asked).forEach((answer) => answer(waiting || moved > 0));
    // What has just become waiting is looked for at once.
    if (moved > 0) return 0;
    const restMs = this.#rest(survey, waiting);
    this.#restingUntil = clock.monotonic() + restMs;
    return restMs;
  }

  #rest({ dueInMs, lapseInMs }: Survey, waiting: boolean): number {
    const { minMs, maxMs, random } = this.parts;
    this.#restMs = waiting ? minMs : Math.min(maxMs, this.#restMs * 2);
    const restMs = this.#restMs * (1 + JITTER * random());
    // What is due or lapsed and still there is in somebody else's hands: it is asked for again at the usual pace.
    return Math.min(restMs, dueInMs || Infinity, lapseInMs || Infinity);
  }

  async #promoteDue({ dueInMs }: Survey): Promise<number> {
    if (dueInMs !== 0) return 0;
    return this.parts.store.promote(PROMOTE_BATCH);
  }

  async #rescueLapsed({ lapseInMs }: Survey): Promise<number> {
    if (lapseInMs !== 0) return 0;
    const rescued = await this.parts.store.rescue(this.parts.rules);
    this.parts.onRescued(rescued);
    return rescued.length;
  }

  #reached(): void {
    if (this.#unreachable) this.parts.logger.log('The database answers again.');
    this.#unreachable = false;
  }

  #failed(error: unknown): number {
    // Said once an outage, not once a poll.
    if (!this.#unreachable) this.parts.logger.warn(`Cannot look for jobs, trying on: ${(error as Error).message}`);
    this.#unreachable = true;
    this.#restMs = Math.min(this.parts.maxMs, this.#restMs * 2);
    return this.#restMs * (1 + JITTER * this.parts.random());
  }
}
