import { abortWith, ENDED } from '../common/abort.js';
import { ListenLoop, type ListenPause } from '../listen/listen-loop.js';
import type { Notification, NotificationChannel } from '../store/notifications/notification-channel.js';
import type { CancelRequestReader } from './cancel-request-reader.js';
import type { Poller } from './poller.js';
import type { QueueWorkers } from './queue/queue-workers.js';
import type { WorkerParts } from './worker-parts.js';

// A pause is longer than planned by up to this part, so that processes do not poll at the same time.
const JITTER = 0.2;
// The pause after the second empty wake-up in a row. Each further one doubles it.
const MIN_BACKOFF_MS = 100;
// A queue that can take jobs again is listened for within this time.
const MAX_RESTART_DELAY_MS = 50;
// A worker that is full for less than this does not listen for cancellations alone in between.
const FULL_DELAY_MS = 100;

interface Listening {
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

  /** @param name the name of the worker, which is notified of cancellation requests */
  constructor(
    private readonly parts: WorkerParts,
    private readonly channel: NotificationChannel,
    private readonly name: string,
    private readonly queues: QueueWorkers,
    private readonly poller: Poller,
    private readonly cancelRequestReader: CancelRequestReader,
  ) {
    const { clock, logger, random, workerOptions } = parts;
    this.#loop = new ListenLoop({
      channel,
      clock,
      logger,
      random,
      listen: (stopping) => this.#awaitNotification(stopping),
      unsupportedMessage: (problem) =>
        `Other processes cannot wake this one (${problem}): it finds their jobs by polling, within ${workerOptions.pollMaxMs / 1_000} s ` +
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
    const open = [...this.queues.byName].filter(([, worker]) => worker.isOpen);
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
    const claimed = this.queues.claimedCount;
    // If there is only one candidate, a claim replaces the poll that would find the queue.
    if (queues.length === 1) {
      this.queues.of(queues[0]!)?.wake();
      await this.#awaitClaims();
    }
    if (this.queues.claimedCount === claimed && (await this.poller.pollForNotification())) await this.#awaitClaims();
    if (this.queues.claimedCount === claimed) await this.cancelRequestReader.read();
  }

  #countFindings(): number {
    return this.queues.claimedCount + this.poller.stateChangeCount + this.cancelRequestReader.foundCount;
  }

  async #awaitClaims(): Promise<void> {
    await Promise.all([...this.queues.byName.values()].map((queue) => queue.claims.untilAnswered()));
  }

  /** Limits the polls that useless notifications cause. One late notification is normal, so the first is free. */
  #nextBackoffMs(isEmpty: boolean): number {
    const { workerOptions, random } = this.parts;
    this.#emptyWakeUps = isEmpty ? this.#emptyWakeUps + 1 : 0;
    if (this.#emptyWakeUps <= 1) return 0;
    return Math.min(workerOptions.pollMaxMs, MIN_BACKOFF_MS * 2 ** (this.#emptyWakeUps - 2)) * (1 + JITTER * random());
  }

  /** @param queues undefined if the worker is full: it listens for cancellations only */
  async #listen(queues: readonly string[] | undefined, stopping: AbortSignal): Promise<Notification> {
    const over = new AbortController();
    const unlink = abortWith(stopping, over);
    this.#listening = { startedAt: this.parts.clock.monotonic(), over };
    this.queues.listenedQueues = new Set(queues);
    try {
      return await this.channel.listen([...(queues ?? []), this.name], over.signal, () => {
        // Notifications from before the connection listened are lost, so their changes are read now.
        if (queues) this.poller.check();
        this.cancelRequestReader.readSoon();
      });
    } finally {
      unlink();
      // Ends the delay of a restart.
      if (this.#restarting) over.abort(ENDED);
      this.#listening = undefined;
      this.queues.listenedQueues = new Set();
    }
  }

  /** Listening again costs a few statements, so it is delayed: queues may fill and empty often. */
  async #restart(): Promise<void> {
    const { clock } = this.parts;
    const listening = this.#listening;
    if (!listening) return;
    await clock.sleep(listening.startedAt + MAX_RESTART_DELAY_MS - clock.monotonic(), listening.over.signal);
    listening.over.abort(ENDED);
  }
}
