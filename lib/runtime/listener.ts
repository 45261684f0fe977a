import type { Doorbell, Heard } from '../store/doorbell.js';
import type { Clock } from '../time/clock.js';
import type { Cancellations } from './cancellations.js';
import type { JobLogger } from './job-logger.js';
import { PollLoop } from './poll-loop.js';
import type { Poller } from './poller.js';
import type { QueueWorker } from './queue-worker.js';

// A rest is up to so much longer than planned, so that many processes do not ask in step.
const JITTER = 0.2;
// After rings in vain, from the second one in a row on; doubled with each.
const SHORTEST_DEAFNESS_MS = 100;
// Queues that can take jobs again are listened for no later than this.
const LONGEST_DEAFNESS_MS = 50;
// A worker without room that has it again sooner than this does not listen in between.
const FULL_MS = 100;
const SHORTEST_TROUBLE_MS = 1_000;
const LONGEST_TROUBLE_MS = 30_000;

export interface ListenerParts {
  readonly doorbell: Doorbell;
  readonly clock: Clock;
  readonly logger: JobLogger;
  readonly random: () => number;
  readonly maxMs: number;
  /** Under which it is notified of cancellations. */
  readonly name: string;
  readonly cancellations: Cancellations;
  readonly queues: ReadonlyMap<string, QueueWorker>;
  readonly poller: Poller;
  /** How often a look has found something else than jobs: queues paused or resumed, somebody who waits for jobs to end, a job that is due sooner. */
  readonly turns: () => number;
}

/**
 * Listens at the doorbell, for jobs while this process could take some, and always for cancellations of those it has. What
 * it does not hear, the poll and the heartbeat find.
 */
export class Listener {
  readonly #loop: PollLoop;
  #works: boolean | undefined;
  #dormant = false;
  #listening:
    { readonly queues: ReadonlySet<string>; readonly since: number; readonly over: AbortController } | undefined;
  #turning: Promise<void> | undefined;
  /** Since when it has had no room for jobs. */
  #fullSince: number | undefined;
  /** How many rings in a row were in vain. */
  #vain = 0;
  #troubleMs = 0;

  constructor(private readonly parts: ListenerParts) {
    this.#loop = new PollLoop(
      (stopping) => this.#tick(stopping),
      parts.clock,
      () => this.#troubled(),
    );
  }

  start(): void {
    this.#loop.start();
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    await this.#turning;
    this.parts.doorbell.hangUp();
  }

  /** The queue can take jobs, and knows of none. */
  listenFor(queue: string): void {
    if (this.#dormant) return this.#loop.wake();
    if (this.#listening?.queues.has(queue) === false) this.listenAnew();
  }

  /** What there is to listen for has changed. */
  listenAnew(): void {
    if (this.#dormant) return this.#loop.wake();
    this.#turning ??= this.#turn().finally(() => (this.#turning = undefined));
  }

  async #tick(stopping: AbortSignal): Promise<number> {
    this.#dormant = false;
    if (!(await this.#isOfUse(stopping)) || stopping.aborted) return Infinity;
    const queues = this.#wanting();
    this.#fullSince = queues ? undefined : (this.#fullSince ?? this.parts.clock.monotonic());
    const isLeftMs = this.#fullSince === undefined ? 0 : this.#fullSince + FULL_MS - this.parts.clock.monotonic();
    if (isLeftMs > 0) {
      this.#dormant = true;
      return isLeftMs;
    }
    // Counted from here on: what was rung for may have been found by the look that came first.
    const gains = this.#gains();
    const heard = await this.#listen(queues, stopping);
    this.#troubleMs = 0;
    if (heard !== 'nothing' && !stopping.aborted) await this.#answer(queues ?? []);
    // Where there were jobs for certain, another process was faster.
    return this.#rest(heard === 'ring' && this.#gains() === gains);
  }

  /** The queues that could take jobs; undefined where those that are open have no room. None: to hear when one opens. */
  #wanting(): string[] | undefined {
    const open = [...this.parts.queues].filter(([, worker]) => worker.isOpen);
    const wanting = open.filter(([, worker]) => worker.lacksJobs).map(([queue]) => queue);
    return open.length > 0 && wanting.length === 0 ? undefined : wanting;
  }

  async #answer(queues: readonly string[]): Promise<void> {
    const claimed = this.#claimed();
    // Where it can be only one queue, nobody needs to be asked which it is.
    if (queues.length === 1) {
      this.parts.queues.get(queues[0]!)?.wake();
      await this.#claims();
    }
    if (this.#claimed() === claimed && (await this.parts.poller.checkNews())) await this.#claims();
    if (this.#claimed() === claimed) await this.parts.cancellations.look();
  }

  /** What looking has ever brought this process. */
  #gains(): number {
    return this.#claimed() + this.parts.turns() + this.parts.cancellations.found;
  }

  #claimed(): number {
    return [...this.parts.queues.values()].reduce((sum, queue) => sum + queue.claimed, 0);
  }

  /** Resolves when each queue has the answer to its claim, where one is under way. */
  async #claims(): Promise<void> {
    await Promise.all([...this.parts.queues.values()].map((queue) => queue.answer()));
  }

  /** Whoever rings without end, and in vain, must not make us look without end. One ring may have come late. */
  #rest(inVain: boolean): number {
    const { maxMs, random } = this.parts;
    this.#vain = inVain ? this.#vain + 1 : 0;
    if (this.#vain <= 1) return 0;
    return Math.min(maxMs, SHORTEST_DEAFNESS_MS * 2 ** (this.#vain - 2)) * (1 + JITTER * random());
  }

  /** @param queues undefined: it has no room for jobs of any */
  async #listen(queues: readonly string[] | undefined, stopping: AbortSignal): Promise<Heard> {
    const { doorbell, poller, cancellations, name } = this.parts;
    const over = new AbortController();
    this.#listening = { queues: new Set(queues), since: this.parts.clock.monotonic(), over };
    try {
      const stop = AbortSignal.any([stopping, over.signal]);
      // What came before has to be looked for.
      return await doorbell.listen([...(queues ?? []), name], stop, () => {
        if (queues) poller.check();
        cancellations.lookSoon();
      });
    } finally {
      over.abort();
      this.#listening = undefined;
    }
  }

  /** Listening anew costs some statements, so queues that come and go must not make it happen all the time. */
  async #turn(): Promise<void> {
    const { clock } = this.parts;
    const listening = this.#listening;
    if (!listening) return;
    await clock.sleep(listening.since + LONGEST_DEAFNESS_MS - clock.monotonic(), listening.over.signal);
    listening.over.abort();
  }

  async #isOfUse(stopping: AbortSignal): Promise<boolean> {
    const { doorbell, logger, maxMs } = this.parts;
    if (this.#works !== undefined) return this.#works;
    const fault = await doorbell.findFault(stopping);
    if (stopping.aborted) return false;
    this.#works = fault === undefined;
    if (!this.#works) {
      doorbell.hangUp();
      logger.log(
        `Other processes cannot wake this one (${fault}): it finds their jobs by polling, within ${maxMs / 1_000} s ` +
          `(\`worker.poll.max\`). \`worker: { doorbell: false }\` keeps it from trying.`,
      );
    }
    return this.#works;
  }

  #troubled(): number {
    this.#troubleMs = Math.min(LONGEST_TROUBLE_MS, Math.max(SHORTEST_TROUBLE_MS, 2 * this.#troubleMs));
    return this.#troubleMs * (1 + JITTER * this.parts.random());
  }
}
