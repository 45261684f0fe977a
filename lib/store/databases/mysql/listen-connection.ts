import type { Connection } from 'mysql2';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../../common/clock.js';
import type { Hosts } from './mysql-connections.js';
import { connectionOptions, loadDriver, OWN_CONNECTION, type MysqlOptions } from './mysql-options.js';
import { REQUIRED_SETTINGS, requireSettings, SESSION_SETTINGS } from './session-settings.js';

// Short enough for proxies and firewalls that close idle connections.
const LISTEN_TIMEOUT_S = 20;
const ANSWER_TIMEOUT_MS = 10_000;

// A server's limits for long statements, and its log of slow ones, are not meant for a connection that sleeps.
const SETTINGS = `
  SET SESSION ${REQUIRED_SETTINGS}, /*!80000 max_execution_time = 0, */ /*M! max_statement_time = 0, */
    long_query_time = 31536000, wait_timeout = 60`;
const READ_SETTINGS = `SELECT ${SESSION_SETTINGS}`;

// A proxy may send a SELECT outside of a transaction to a replica. The transaction reads no table, so that it keeps no
// snapshot and no lock.
const BEGIN = 'START TRANSACTION';

const INTERRUPTED = 1317;

/** A connection that only listens, so that an interrupt cannot hit any other statement. */
export class ListenConnection {
  #isClosed = false;
  /** Rejects the statement that waits for an answer. */
  #lose: (() => void) | undefined;

  private constructor(
    private readonly connection: Connection,
    private readonly clock: Clock,
  ) {
    connection.on('error', () => this.close());
    connection.on('end', () => this.close());
  }

  static async open(options: MysqlOptions, hosts: Hosts, clock: Clock, stop: AbortSignal): Promise<ListenConnection> {
    const { createConnection } = await loadDriver(options);
    const connection = createConnection({
      ...connectionOptions(options),
      ...OWN_CONNECTION,
      ...hosts.connectionOptions,
    });
    const listening = new ListenConnection(connection, clock);
    const close = () => listening.close();
    stop.addEventListener('abort', close, { once: true });
    try {
      await listening.#withTimeout((done) => connection.connect((error) => done(error)), ANSWER_TIMEOUT_MS);
      await listening.#query(SETTINGS, ANSWER_TIMEOUT_MS);
      const [settings] = await listening.#query<Record<string, unknown>>(READ_SETTINGS, ANSWER_TIMEOUT_MS);
      requireSettings(settings);
      await listening.#query(BEGIN, ANSWER_TIMEOUT_MS);
      return listening;
    } catch (error) {
      listening.close();
      throw error;
    } finally {
      stop.removeEventListener('abort', close);
    }
  }

  get isOpen(): boolean {
    return !this.#isClosed;
  }

  /** Behind a proxy this is not the server's id, so no process finds it in the process list. */
  get id(): number {
    return this.connection.threadId;
  }

  /**
   * Sleeps for up to 20 s. Resolves to true if another connection interrupts it, and rejects if the connection is lost.
   *
   * @param mark a comment that the server's process list shows while it sleeps
   */
  async listen(mark: string): Promise<boolean> {
    try {
      // The statement reads no table. Otherwise its snapshot and metadata locks would last as long as the sleep: a
      // migration would wait for it, and the server could purge no finished job.
      const [row] = await this.#query<{ slept: number }>(
        `SELECT ${mark} SLEEP(${LISTEN_TIMEOUT_S}) AS slept`,
        LISTEN_TIMEOUT_S * 1_000 + ANSWER_TIMEOUT_MS,
      );
      // MySQL returns 1 for an interrupted sleep.
      return Number(row?.slept) !== 0;
    } catch (error) {
      // MariaDB reports an error for it.
      if ((error as { errno?: number }).errno === INTERRUPTED) return true;
      this.close();
      throw error;
    }
  }

  /** Rejects the statement that waits for an answer. */
  close(): void {
    if (!this.isOpen) return;
    this.#isClosed = true;
    this.#lose?.();
    this.connection.destroy();
    // The driver waits for the server to close its side, which happens only after the statement ends.
    (this.connection as unknown as { stream?: Duplex }).stream?.destroy();
  }

  #query<Row>(sql: string, timeoutMs: number): Promise<readonly Row[]> {
    return this.#withTimeout<readonly Row[]>(
      (done) => this.connection.query(sql, (error, rows) => done(error, rows as never)),
      timeoutMs,
    );
  }

  /** Rejects also when the connection is closed: the driver does not call back if this side closes it. */
  async #withTimeout<T>(
    start: (done: (error: Error | null, value?: T) => void) => void,
    timeoutMs: number,
  ): Promise<T> {
    let cancelTimeout: (() => void) | undefined;
    try {
      return await new Promise<T>((resolve, reject) => {
        this.#lose = () => reject(connectionLost());
        if (!this.isOpen) return this.#lose();
        cancelTimeout = this.clock.after(timeoutMs, this.#lose);
        start((error, value) => (error ? reject(error) : resolve(value as T)));
      });
    } finally {
      this.#lose = undefined;
      cancelTimeout?.();
    }
  }
}

function connectionLost(): Error {
  return Object.assign(new Error('The connection was lost'), { code: 'PROTOCOL_CONNECTION_LOST', fatal: true });
}
