import type { Connection } from 'mysql2';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../time/clock.js';
import type { Hosts } from './hosts.js';
import { connectionFields, driverOf, type MysqlOptions } from './mysql-options.js';

// As long as no proxy and no firewall takes the connection for dead.
const LISTEN_S = 20;
const PATIENCE_MS = 10_000;

// A server that limits how long a statement may take, or writes down the slow ones, means others than this.
const SET_UP = `
  SET SESSION /*!80000 max_execution_time = 0, */ /*M! max_statement_time = 0, */
    long_query_time = 31536000, wait_timeout = 60`;

const INTERRUPTED = 1317;

/** A connection that never does anything but listen: whoever interrupts what it runs can hit nothing else. */
export class Line {
  readonly #gone = new AbortController();

  private constructor(
    private readonly connection: Connection,
    private readonly clock: Clock,
  ) {
    connection.on('error', () => this.hangUp());
    connection.on('end', () => this.hangUp());
  }

  static async open(options: MysqlOptions, hosts: Hosts, clock: Clock, stop: AbortSignal): Promise<Line> {
    const { createConnection } = await driverOf(options);
    const connection = createConnection({
      ...connectionFields(options),
      charset: 'utf8mb4',
      enableKeepAlive: true,
      keepAliveInitialDelay: 10_000,
      ...hosts.fields,
    });
    const line = new Line(connection, clock);
    const hangUp = () => line.hangUp();
    stop.addEventListener('abort', hangUp, { once: true });
    try {
      await line.#until((done) => connection.connect((error) => done(error)), PATIENCE_MS);
      await line.#ask(SET_UP, PATIENCE_MS);
      return line;
    } catch (error) {
      line.hangUp();
      throw error;
    } finally {
      stop.removeEventListener('abort', hangUp);
    }
  }

  get isOpen(): boolean {
    return !this.#gone.signal.aborted;
  }

  /** What the server itself calls it; behind a proxy that is something else, so that nobody finds it. */
  get id(): number {
    return this.connection.threadId;
  }

  /** @param mark what the server's list of processes shows meanwhile. Answers whether somebody rang. */
  async listen(mark: string): Promise<boolean> {
    try {
      // No table is read here. A statement that looks for jobs before it sleeps would hold what it has read for as long: a
      // migration would wait for it, and the server could throw away no finished job.
      const [row] = await this.#ask<{ slept: number }>(
        `SELECT ${mark} SLEEP(${LISTEN_S}) AS slept`,
        LISTEN_S * 1_000 + PATIENCE_MS,
      );
      // MySQL answers 1 for a sleep that was cut short.
      return Number(row?.slept) !== 0;
    } catch (error) {
      // MariaDB calls that an error.
      if ((error as { errno?: number }).errno === INTERRUPTED) return true;
      this.hangUp();
      throw error;
    }
  }

  /** Whoever waits for an answer is told that there will be none. */
  hangUp(): void {
    if (!this.isOpen) return;
    this.#gone.abort();
    this.connection.destroy();
    // The driver waits for the server to close its end, which it does not before the statement is over.
    (this.connection as unknown as { stream?: Duplex }).stream?.destroy();
  }

  #ask<Row>(sql: string, patienceMs: number): Promise<readonly Row[]> {
    return this.#until<readonly Row[]>(
      (done) => this.connection.query(sql, (error, rows) => done(error, rows as never)),
      patienceMs,
    );
  }

  /** The driver does not call back where the connection is given up from this side. */
  async #until<T>(begin: (done: (error: Error | null, value?: T) => void) => void, patienceMs: number): Promise<T> {
    const over = new AbortController();
    try {
      return await new Promise<T>((resolve, reject) => {
        if (!this.isOpen) return reject(lost());
        this.#gone.signal.addEventListener('abort', () => reject(lost()), { once: true, signal: over.signal });
        void this.clock.sleep(patienceMs, over.signal).then(() => reject(lost()));
        begin((error, value) => (error ? reject(error) : resolve(value as T)));
      });
    } finally {
      over.abort();
    }
  }
}

function lost(): Error {
  return Object.assign(new Error('The connection was lost'), { code: 'PROTOCOL_CONNECTION_LOST', fatal: true });
}
