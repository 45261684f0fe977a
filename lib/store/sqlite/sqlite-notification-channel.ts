import { watch } from 'node:fs';
import { utimes } from 'node:fs/promises';
import type { Clock } from '../../common/clock.js';
import type { NotificationChannel, Notification } from '../notifications/notification-channel.js';
import { NotificationSender } from '../notifications/notification-sender.js';

const LISTEN_TIMEOUT_MS = 20_000;
const DELIVERY_TEST_TIMEOUT_MS = 5_000;

/** Called when listening starts. The returned function checks after each touch whether it concerns these names. */
export type NotificationCheck = (names: readonly string[]) => Promise<() => Promise<Notification | undefined>>;

/**
 * Notifies the processes on one database file through the file system. A notification sets the times of the file's
 * `-shm`, which exists while a process has the database open. SQLite ignores these times, and its own writes to the
 * file go through memory, so they trigger no notification.
 */
export class SqliteNotificationChannel implements NotificationChannel {
  readonly #watchedFile: string;
  readonly #sender: NotificationSender;

  constructor(
    file: string,
    private readonly beginCheck: NotificationCheck,
    private readonly clock: Clock,
  ) {
    this.#watchedFile = `${file}-shm`;
    this.#sender = new NotificationSender(() => this.#touch(), clock);
  }

  async findProblem(stop: AbortSignal): Promise<string | undefined> {
    try {
      return await this.#watch(stop, DELIVERY_TEST_TIMEOUT_MS, async (next) => {
        await this.#touch();
        return (await next()) || stop.aborted ? undefined : 'the file system reported no change of the -shm file';
      });
    } catch (error) {
      return (error as Error).message;
    }
  }

  listen(queues: readonly string[], stop: AbortSignal, onListening: () => void): Promise<Notification> {
    return this.#watch(stop, LISTEN_TIMEOUT_MS, async (next) => {
      const check = await this.beginCheck(queues);
      onListening();
      while (await next()) {
        const notification = await check();
        if (notification) return notification;
      }
      return 'none';
    });
  }

  disconnect(): void {}

  notify(queue: string, jobs: number): void {
    this.#sender.notify(queue, jobs);
  }

  prepare(): void {}

  notifyAll(): void {
    this.#sender.notifyAll();
  }

  close(): Promise<void> {
    return this.#sender.close();
  }

  /** Reaches every listener. Each checks whether the notification concerns it, which takes microseconds. */
  async #touch(): Promise<number> {
    const now = this.clock.now();
    await utimes(this.#watchedFile, now, now);
    return 1;
  }

  /** Runs `act`, whose `next` resolves to true after each touch of the file, and to false after `ms` or `stop`. */
  async #watch<T>(stop: AbortSignal, ms: number, act: (next: () => Promise<boolean>) => Promise<T>): Promise<T> {
    const over = new AbortController();
    let touched = false;
    let wake = () => {};
    const watcher = watch(this.#watchedFile, { persistent: false }, (event) => {
      // Another file has replaced it.
      if (event === 'rename') over.abort();
      touched = true;
      wake();
    });
    watcher.on('error', () => over.abort());
    over.signal.addEventListener('abort', () => wake(), { once: true });
    const ended = this.clock.sleep(ms, AbortSignal.any([stop, over.signal])).then(() => over.abort());
    const next = async () => {
      if (!touched && !over.signal.aborted) await new Promise<void>((resolve) => (wake = resolve));
      touched = false;
      return !over.signal.aborted;
    };
    try {
      return await act(next);
    } finally {
      over.abort();
      watcher.close();
      await ended;
    }
  }
}
