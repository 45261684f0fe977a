import { ListenLoop, type ListenLoopParts, type ListenPause } from '../listen/listen-loop.js';
import type { Notification } from '../store/notifications/notification-channel.js';
import type { CancelRequestReader } from './cancel-request-reader.js';
import type { PollEffects } from './poll-effects.js';
import type { Poller } from './poller.js';
import type { QueueWorker } from './queue/queue-worker.js';

// A pause is longer than planned by up to this part, so that processes do not poll at the same time.
const JITTER = 0.2;
// The pause after the second empty wake-up in a row. Each further one doubles it.
const MIN_BACKOFF_MS = 100;
// A queue that can take jobs again is listened for within this time.
const MAX_RESTART_DELAY_MS = 50;
// A worker that is full for less than this does not listen for cancellations alone in between.
const FULL_DELAY_MS = 100;

export interface NotificationListenerParts extends Pick<ListenLoopParts, 'channel' | 'clock' | 'logger'> {
  readonly random: () => number;
  readonly pollMaxMs: number;
  /** The name of the worker, which is notified of cancellation requests. */
  readonly name: string;
  readonly queues: ReadonlyMap<string, QueueWorker>;
  readonly poller: Poller;
  readonly pollEffects: Pick<PollEffects, 'stateChangeCount'>;
  readonly cancelRequestReader: CancelRequestReader;
}

interface Listening {
  readonly queues: ReadonlySet<string>;
  readonly startedAt: number;
  readonly over: AbortController;
}

/**
 * Listens for notifications of jobs while this process has room for jobs, and of cancellation requests at all times.
 * Polls and heartbeats find the changes whose notification is lost.
 */
export class NotificationListener {
  readonly #loop: ListenLoop;
  #listening: Listening | undefined;
  #restarting: Promise<void> | undefined;
  #fullSince: number | undefined;
  #emptyWakeUps = 0;

  constructor(private readonly parts: NotificationListenerParts) {
    const { channel, clock, logger, random, pollMaxMs } = parts;
    this.#loop = new ListenLoop({
      channel,
      clock,
      logger,
      random,
      listen: (stopping) => this.#awaitNotification(stopping),
      unsupportedMessage: (problem) =>
        `Other processes cannot wake this one (${problem}): it finds their jobs by polling, within ${pollMaxMs / 1_000} s ` +
        `(\`worker.poll.max\`). \`worker: { notify: false }\` keeps it from trying.`,
    });
  }

  start(): void {
    this.#loop.start();
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    await this.#restarting;
  }

  /** Listens for the queue too: it has room for jobs, and expects none. */
  listenFor(queue: string): void {
    this.#loop.resume();
    if (this.#listening?.queues.has(queue) === false) this.restartListening();
  }

  /** Listens again, because the queues to listen for have changed. */
  restartListening(): void {
    if (!this.#listening) return this.#loop.resume();
    this.#restarting ??= this.#restart().finally(() => (this.#restarting = undefined));
  }

  async #awaitNotification(stopping: AbortSignal): Promise<ListenPause> {
    const queues = this.#queuesWithRoom();
    const listenInMs = this.#delayIfFull(queues === undefined);
    if (listenInMs > 0) return { ms: listenInMs, isResumable: true };
    // Counted before listening: a check may find the announced jobs before the notification arrives.
    const findings = this.#countFindings();
    const received = await this.#listen(queues, stopping);
    if (received !== 'none' && !stopping.aborted) await this.#handleNotification(queues ?? []);
    // With `jobs` the channel itself has read that there were jobs, so only a bare wake-up can be empty.
    const isEmpty = received === 'wake-up' && this.#countFindings() === findings;
    return { ms: this.#nextBackoffMs(isEmpty), isResumable: false };
  }

  /**
   * The open queues that could take jobs, or undefined if there are open queues and none has room. If no queue is open,
   * the worker still listens, because another process may resume one.
   */
  #queuesWithRoom(): string[] | undefined {
    const open = [...this.parts.queues].filter(([, worker]) => worker.isOpen);
    const withRoom = open.filter(([, worker]) => worker.lacksJobs).map(([queue]) => queue);
    return open.length > 0 && withRoom.length === 0 ? undefined : withRoom;
  }

  #delayIfFull(isFull: boolean): number {
    if (!isFull) {
      this.#fullSince = undefined;
      return 0;
    }
    const now = this.parts.clock.monotonic();
    this.#fullSince ??= now;
    return this.#fullSince + FULL_DELAY_MS - now;
  }

  async #handleNotification(queues: readonly string[]): Promise<void> {
    const claimed = this.#countClaimedJobs();
    // If there is only one candidate, a claim replaces the poll that would find the queue.
    if (queues.length === 1) {
      this.parts.queues.get(queues[0]!)?.wake();
      await this.#awaitClaims();
    }
    if (this.#countClaimedJobs() === claimed && (await this.parts.poller.pollForNotification()))
      await this.#awaitClaims();
    if (this.#countClaimedJobs() === claimed) await this.parts.cancelRequestReader.read();
  }

  #countFindings(): number {
    const { pollEffects, cancelRequestReader } = this.parts;
    return this.#countClaimedJobs() + pollEffects.stateChangeCount + cancelRequestReader.foundCount;
  }

  #countClaimedJobs(): number {
    return [...this.parts.queues.values()].reduce((sum, queue) => sum + queue.claimedCount, 0);
  }

  async #awaitClaims(): Promise<void> {
    await Promise.all([...this.parts.queues.values()].map((queue) => queue.untilAnswered()));
  }

  /** Limits the polls that useless notifications cause. One late notification is normal, so the first is free. */
  #nextBackoffMs(isEmpty: boolean): number {
    const { pollMaxMs, random } = this.parts;
    this.#emptyWakeUps = isEmpty ? this.#emptyWakeUps + 1 : 0;
    if (this.#emptyWakeUps <= 1) return 0;
    return Math.min(pollMaxMs, MIN_BACKOFF_MS * 2 ** (this.#emptyWakeUps - 2)) * (1 + JITTER * random());
  }

  /** @param queues undefined if the worker is full: it listens for cancellations only */
  async #listen(queues: readonly string[] | undefined, stopping: AbortSignal): Promise<Notification> {
    const { channel, clock, poller, cancelRequestReader, name } = this.parts;
    const over = new AbortController();
    this.#listening = { queues: new Set(queues), startedAt: clock.monotonic(), over };
    try {
      const stop = AbortSignal.any([stopping, over.signal]);
      return await channel.listen([...(queues ?? []), name], stop, () => {
        // Notifications from before the connection listened are lost, so their changes are read now.
        if (queues) poller.check();
        cancelRequestReader.readSoon();
      });
    } finally {
      over.abort();
      this.#listening = undefined;
    }
  }

  /** Listening again costs a few statements, so it is delayed: queues may fill and empty often. */
  async #restart(): Promise<void> {
    const { clock } = this.parts;
    const listening = this.#listening;
    if (!listening) return;
    await clock.sleep(listening.startedAt + MAX_RESTART_DELAY_MS - clock.monotonic(), listening.over.signal);
    listening.over.abort();
  }
}
