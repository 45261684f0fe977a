import {
  workerIdOf,
  type NotificationChannel,
  type Notification,
} from '../../lib/store/notifications/notification-channel.js';

/** A notification channel that forwards to another one, and records notifications for a test. */
export class ObservedNotificationChannel implements NotificationChannel {
  /** The notification that ended each `listen()`, in order. */
  readonly received: Notification[] = [];
  /** Each notification that was sent: the queue and the number of jobs. */
  readonly sent: [queue: string, jobs: number][] = [];
  /** The number of notifications that were sent to all workers. */
  sentToAll = 0;
  /** The number of times that listening was established, after which no notification is missed. */
  listenCount = 0;
  #listeningTo: readonly string[] | undefined;
  #waiting: (() => void)[] = [];

  constructor(private readonly channel: NotificationChannel) {}

  /** Resolves as soon as the channel listens. If queues are given, it must listen to exactly those. */
  async untilListening(...queues: string[]): Promise<void> {
    while (!this.#isListening(queues)) await this.#nextChange();
  }

  async untilReceived(count: number): Promise<void> {
    while (this.received.length < count) await this.#nextChange();
  }

  async untilListenCount(count: number): Promise<void> {
    while (this.listenCount < count) await this.#nextChange();
  }

  async untilSent(): Promise<void> {
    while (this.sent.length === 0) await this.#nextChange();
  }

  findProblem(stop: AbortSignal): Promise<string | undefined> {
    return this.channel.findProblem(stop);
  }

  async listen(queues: readonly string[], stop: AbortSignal, onListening: () => void): Promise<Notification> {
    const listening = () => {
      this.#listeningTo = queues;
      this.listenCount++;
      onListening();
      this.#notifyWaiting();
    };
    try {
      const notification = await this.channel.listen(queues, stop, listening);
      this.received.push(notification);
      return notification;
    } finally {
      this.#listeningTo = undefined;
      this.#notifyWaiting();
    }
  }

  disconnect(): void {
    this.channel.disconnect();
  }

  prepare(): void {
    this.channel.prepare();
  }

  notify(queue: string, jobs: number): void {
    this.sent.push([queue, jobs]);
    this.channel.notify(queue, jobs);
    this.#notifyWaiting();
  }

  notifyAll(): void {
    this.sentToAll++;
    this.channel.notifyAll();
  }

  close(): Promise<void> {
    return this.channel.close();
  }

  #isListening(queues: readonly string[]): boolean {
    const to = this.#listeningTo;
    return to !== undefined && (queues.length === 0 || this.#queues.join() === queues.join());
  }

  get #queues(): string[] {
    return (this.#listeningTo ?? []).filter((name) => workerIdOf(name) === undefined);
  }

  #nextChange(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #notifyWaiting(): void {
    this.#waiting.splice(0).forEach((wake) => wake());
  }
}
