import type { Clock } from '../common/clock.js';
import type { JobLogger } from '../common/logger.js';
import { PollLoop } from '../common/poll-loop.js';
import type { NotificationChannel } from '../store/notifications/notification-channel.js';

const MIN_RETRY_INTERVAL_MS = 1_000;
const MAX_RETRY_INTERVAL_MS = 30_000;
// Retries of many processes are spread over an interval that is longer by up to this part.
const JITTER = 0.2;

export interface ListenPause {
  readonly ms: number;
  /** Whether `resume` ends the pause early. The turn has not listened then. */
  readonly isResumable: boolean;
}

interface ListenLoopParts {
  readonly channel: NotificationChannel;
  readonly clock: Clock;
  readonly logger: JobLogger;
  /** Listens until a notification arrives or `stopping` is aborted. Returns the pause until the next turn. */
  readonly listen: (stopping: AbortSignal) => Promise<ListenPause>;
  readonly unsupportedMessage: (problem: string) => string;
  /** Default: retries without jitter. */
  readonly random?: () => number;
}

/**
 * Listens on a notification channel again and again. It checks once whether the channel works, and stops if it does
 * not. After an error it retries in 1 s, and then after twice the last interval, up to 30 s.
 */
export class ListenLoop {
  readonly #loop: PollLoop;
  #isSupported: boolean | undefined;
  #isResumable = false;
  /** `resume` was called after the current turn began. */
  #isResumeRequested = false;
  #retryIntervalMs = 0;

  constructor(private readonly parts: ListenLoopParts) {
    this.#loop = new PollLoop(
      (stopping) => this.#tick(stopping),
      parts.clock,
      () => this.#nextRetryMs(),
    );
  }

  /** May be called twice. */
  start(): void {
    this.#loop.start();
  }

  /**
   * Ends a resumable pause, also one that the current turn is about to return. It does not end other pauses, so that a
   * notification storm or an outage keeps its pace.
   */
  resume(): void {
    this.#isResumeRequested = true;
    if (this.#isResumable) this.#loop.wake();
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    this.parts.channel.disconnect();
  }

  async #tick(stopping: AbortSignal): Promise<number> {
    this.#isResumable = false;
    if (!(await this.#checkSupport(stopping)) || stopping.aborted) return Infinity;
    this.#isResumeRequested = false;
    const { ms, isResumable } = await this.parts.listen(stopping);
    this.#isResumable = isResumable;
    if (!isResumable) this.#retryIntervalMs = 0;
    return isResumable && this.#isResumeRequested ? 0 : ms;
  }

  async #checkSupport(stopping: AbortSignal): Promise<boolean> {
    if (this.#isSupported !== undefined) return this.#isSupported;
    const { channel, logger, unsupportedMessage } = this.parts;
    const problem = await channel.findProblem(stopping);
    if (stopping.aborted) return false;
    this.#isSupported = problem === undefined;
    if (problem !== undefined) {
      channel.disconnect();
      logger.log(unsupportedMessage(problem));
    }
    return this.#isSupported;
  }

  #nextRetryMs(): number {
    const { random = () => 0 } = this.parts;
    this.#retryIntervalMs = Math.min(MAX_RETRY_INTERVAL_MS, Math.max(MIN_RETRY_INTERVAL_MS, 2 * this.#retryIntervalMs));
    return this.#retryIntervalMs * (1 + JITTER * random());
  }
}

interface ChannelListenerParts extends Pick<ListenLoopParts, 'clock' | 'logger'> {
  /** Undefined if this process receives no notifications. */
  readonly channel: NotificationChannel | undefined;
  /** The name that other processes notify. */
  readonly name: string;
  readonly isNeeded: () => boolean;
  /** The pause after a notification. */
  readonly gapMs: () => number;
  /** Called when a notification may have arrived, and when the listener has connected: earlier ones may be lost. */
  readonly onNotification: () => void;
}

/** Listens for notifications under one name while they are needed. Polls find the changes if one is lost. */
export class ChannelListener {
  readonly #loop: ListenLoop | undefined;

  constructor({ channel, clock, logger, name, isNeeded, gapMs, onNotification }: ChannelListenerParts) {
    if (!channel) return;
    const listen = async (stopping: AbortSignal): Promise<ListenPause> => {
      if (!isNeeded()) {
        channel.disconnect();
        return { ms: Infinity, isResumable: true };
      }
      const received = await channel.listen([name], stopping, onNotification);
      if (received !== 'none') onNotification();
      return { ms: received === 'none' ? 0 : gapMs(), isResumable: false };
    };
    const unsupportedMessage = (problem: string) =>
      `Other processes cannot notify this one of job changes (${problem}): it finds them by polling, within a second.`;
    this.#loop = new ListenLoop({ channel, clock, logger, listen, unsupportedMessage });
  }

  /** Call it whenever notifications become necessary. */
  listen(): void {
    this.#loop?.start();
    this.#loop?.resume();
  }

  async stop(): Promise<void> {
    await this.#loop?.stop();
  }
}
