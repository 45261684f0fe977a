import { ListenLoop, type ListenLoopParts, type ListenPause } from './listen-loop.js';

export interface WaitListenerParts extends Pick<ListenLoopParts, 'channel' | 'clock' | 'logger'> {
  /** The name that other processes notify. */
  readonly name: string;
  readonly isNeeded: () => boolean;
  /** The pause after a notification. */
  readonly gapMs: () => number;
  /** Called when a notification may have arrived, and when the listener has connected: earlier ones may be lost. */
  readonly onNotification: () => void;
}

/** Listens for notifications under one name while they are needed. Polls find the changes if one is lost. */
export class WaitListener {
  readonly #loop: ListenLoop;

  constructor(private readonly parts: WaitListenerParts) {
    const { channel, clock, logger } = parts;
    this.#loop = new ListenLoop({
      channel,
      clock,
      logger,
      listen: (stopping) => this.#listen(stopping),
      unsupportedMessage: (problem) =>
        `Other processes cannot notify this one of job changes (${problem}): it finds them by polling, within a second.`,
    });
  }

  /** Call it whenever notifications become necessary. */
  listen(): void {
    this.#loop.start();
    this.#loop.resume();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async #listen(stopping: AbortSignal): Promise<ListenPause> {
    const { channel, name, onNotification, isNeeded, gapMs } = this.parts;
    if (!isNeeded()) {
      channel.disconnect();
      return { ms: Infinity, isResumable: true };
    }
    const received = await channel.listen([name], stopping, onNotification);
    if (received !== 'none') onNotification();
    return { ms: received === 'none' ? 0 : gapMs(), isResumable: false };
  }
}
