import type { NotificationChannel } from '../store/notifications/notification-channel.js';
import { ListenLoop, type ListenLoopParts, type ListenPause } from './listen-loop.js';

export interface ChannelListenerParts extends Pick<ListenLoopParts, 'clock' | 'logger'> {
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
