import { StoreUnavailableError } from '../../../job/errors.js';
import type { Clock } from '../../../common/clock.js';
import { abortWith, ENDED, withTimeout } from '../../../common/abort.js';
import type { NotificationChannel, Notification } from '../../notifications/notification-channel.js';
import { NotificationSender } from '../../notifications/notification-sender.js';
import type { SqlDatabase } from '../../core/sql-database.js';
import { query } from '../../core/statement.js';
import type { Hosts } from './mysql-connections.js';
import type { MysqlOptions } from './mysql-options.js';
import { ListenConnection } from './listen-connection.js';
import { MysqlProcessList } from './mysql-process-list.js';

const DELIVERY_TEST_TIMEOUT_MS = 5_000;
const INTERRUPT_TIMEOUT_MS = 1_000;
const MAX_PAUSE_MS = 100;

/**
 * Notifies workers by interrupting a statement, because these servers have no notifications. A worker runs SLEEP on a
 * connection of its own, with a mark that other processes find in the process list. A producer interrupts the sleep.
 */
export class MysqlNotificationChannel implements NotificationChannel {
  readonly #processList: MysqlProcessList;
  readonly #sender: NotificationSender;
  #connection: ListenConnection | undefined;

  constructor(
    private readonly database: SqlDatabase,
    private readonly options: MysqlOptions,
    private readonly hosts: Hosts,
    /** The table in the mark, so that each prefix, and each kind of listener, has a channel of its own. */
    table: string,
    private readonly clock: Clock,
  ) {
    this.#processList = new MysqlProcessList(database, table, clock);
    this.#sender = new NotificationSender((pending) => this.#processList.notify(pending, this.#connection?.id), clock);
  }

  async findProblem(stop: AbortSignal): Promise<string | undefined> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#testDelivery(stop);
      } catch (error) {
        if (stop.aborted) return undefined;
        if (error instanceof StoreUnavailableError) throw error;
        // Rejects if the database is unreachable: then the channel is not the problem.
        await this.database.runIdempotent(() => query('SELECT 1'));
        if (tries > 1) return (error as Error).message;
      }
    }
  }

  async listen(queues: readonly string[], stop: AbortSignal, onListening: () => void): Promise<Notification> {
    const over = new AbortController();
    let ending: Promise<void> | undefined;
    try {
      const connection = await this.#connect(stop);
      if (stop.aborted) return 'none';
      const end = () => void (ending = this.#endListening(connection, over.signal));
      stop.addEventListener('abort', end, { once: true, signal: over.signal });
      const listening = connection
        .listen(this.#processList.markFor(connection.id, queues))
        .finally(() => over.abort(ENDED));
      const listed = this.#poll(over.signal, () => this.#processList.isListening(connection.id));
      const [isNotified] = await Promise.all([listening, listed.then((isListed) => isListed && onListening())]);
      return isNotified && !stop.aborted ? 'wake-up' : 'none';
    } catch (error) {
      this.disconnect();
      if (stop.aborted) return 'none';
      throw error;
    } finally {
      over.abort(ENDED);
      await ending;
    }
  }

  disconnect(): void {
    this.#connection?.close();
    this.#connection = undefined;
  }

  // Only if the sender is idle: otherwise each round would read the process list twice.
  prepare(): void {
    if (this.#sender.isIdle) this.#processList.readAhead();
  }

  notify(queue: string, jobs: number): void {
    this.#sender.notify(queue, jobs);
  }

  notifyAll(): void {
    this.#sender.notifyAll();
  }

  close(): Promise<void> {
    this.disconnect();
    return this.#sender.close();
  }

  async #testDelivery(stop: AbortSignal): Promise<string | undefined> {
    const connection = await this.#connect(stop);
    const over = new AbortController();
    const unlink = abortWith(stop, over);
    let hasArrived = false;
    try {
      const listening = connection
        .listen(this.#processList.markFor(connection.id, []))
        .then((isNotified) => (hasArrived = isNotified));
      const ended = withTimeout(this.clock, DELIVERY_TEST_TIMEOUT_MS, listening, stop).finally(() => over.abort(ENDED));
      const [isListed] = await Promise.all([
        this.#poll(over.signal, () => this.#processList.interrupt(connection.id)),
        ended,
      ]);
      if (hasArrived) return undefined;
      this.disconnect();
      return isListed
        ? 'a test notification did not arrive'
        : 'the process list does not show the listening connection';
    } finally {
      unlink();
      over.abort(ENDED);
    }
  }

  async #connect(stop: AbortSignal): Promise<ListenConnection> {
    if (!this.#connection?.isOpen)
      this.#connection = await ListenConnection.open(this.options, this.hosts, this.clock, stop);
    return this.#connection;
  }

  /** Other connections see this one in the process list after a moment. Returns false if `over` comes first. */
  async #poll(over: AbortSignal, isDone: () => Promise<boolean>): Promise<boolean> {
    for (let pauseMs = 1; !over.aborted; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      await this.clock.sleep(pauseMs, over);
      if (!over.aborted && (await isDone())) return true;
    }
    return false;
  }

  /** Interrupts the sleep, because a server lists a closed connection as listening for some seconds. */
  async #endListening(connection: ListenConnection, over: AbortSignal): Promise<void> {
    const timeout = this.clock.sleep(INTERRUPT_TIMEOUT_MS, over).then(() => over.aborted || connection.close());
    await this.#poll(over, () => this.#processList.interrupt(connection.id)).catch(() => connection.close());
    await timeout;
  }
}
