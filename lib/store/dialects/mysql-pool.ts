import type { PoolConnection, ResultSetHeader } from 'mysql2';
import type { DataSource, EntityManager } from 'typeorm';
import { StoreUnavailableError } from '../../job/errors.js';
import type { Clock } from '../../time/clock.js';
import { callersRunner, onRunner } from '../sql/callers-transaction.js';
import { remedyFor } from '../sql/remedy.js';
import { persist, unavailable } from '../sql/patience.js';
import type { SqlDatabase } from '../sql/sql-database.js';
import { drive, type Answer, type SqlValue, type Statement, type Work } from '../sql/statement.js';
import type { Templates } from '../sql/template.js';
import { AnswerWatch } from './answer-watch.js';
import { connectionFields, driverOf, type MysqlOptions } from './mysql-connection.js';
import { Hosts } from './hosts.js';
import { NumberedCommits } from './numbered-commits.js';

type Pool = import('mysql2').Pool;

// Enough for the claims of many queues, a flush and a heartbeat side by side; each statement takes milliseconds.
const POOL_SIZE = 5;

// A server that does not answer within the shortest lease, with these limits, is taken for gone: the connection is dropped
// and the work done again. Longer than any wait that the server itself ends.
const SHORTEST_ANSWER_TIMEOUT_MS = 5_000;
const LONGEST_ANSWER_TIMEOUT_MS = 30_000;

// Far longer than any transaction of the library's own keeps a row.
const LOCK_WAIT_S = 1;

// A session keeps its step, but on Galera, where it is the number of nodes at that moment.
const ID_STEP = `SELECT @@auto_increment_increment AS step`;
const GALERA = `SHOW GLOBAL STATUS LIKE 'wsrep_cluster_size'`;

// The binary log then has the key of a row and what changed, not the payload, twice, of every job claimed and finished. It
// takes a privilege that not every account has: 1227. Galera replicates whole rows.
const SHORT_ROW_IMAGE = `SET SESSION binlog_row_image = 'MINIMAL'`;
const ACCESS_DENIED = 1227;

const CLOSE_TIMEOUT_MS = 5_000;

/**
 * The library's own connections, with its own session settings, so that a handler that uses up the application's pool
 * cannot starve a heartbeat and the application's settings stay as they are.
 */
export class MysqlPool implements SqlDatabase {
  /** Connections whose session is set up, with the moment of their last use. */
  readonly #usedAt = new WeakMap<PoolConnection, number>();
  readonly #idSteps = new WeakMap<PoolConnection, number>();
  readonly #watch: AnswerWatch;
  readonly #numbered: NumberedCommits;
  readonly #answerTimeoutMs: number;
  #isRowImageDenied = false;

  private constructor(
    private readonly pool: Pool,
    private readonly dataSource: DataSource,
    private readonly templates: Templates,
    private readonly clock: Clock,
    private readonly waitTimeoutS: number,
    private readonly hosts: Hosts,
  ) {
    const timeoutMs = Math.max(SHORTEST_ANSWER_TIMEOUT_MS, waitTimeoutS * 1_000);
    this.#answerTimeoutMs = Math.min(LONGEST_ANSWER_TIMEOUT_MS, timeoutMs);
    this.#watch = new AnswerWatch(clock, this.#answerTimeoutMs);
    this.#numbered = new NumberedCommits(this, clock);
  }

  /** @param shortestLeaseMs a host that was switched off in mid-transaction keeps its row locks no longer than this */
  static async open(
    dataSource: DataSource,
    templates: Templates,
    clock: Clock,
    shortestLeaseMs: number,
    hosts = new Hosts(),
  ): Promise<MysqlPool> {
    const options = dataSource.options as MysqlOptions;
    const { createPool } = await driverOf(options);
    const waitTimeoutS = Math.max(1, Math.ceil(shortestLeaseMs / 1_000));
    const pool = createPool({
      ...connectionFields(options),
      charset: 'utf8mb4',
      supportBigNumbers: true,
      bigNumberStrings: false,
      connectionLimit: POOL_SIZE,
      // mysql2 lets idle connections go only where there may be fewer idle ones than connections.
      maxIdle: POOL_SIZE - 1,
      // Before the server closes them, and never so early that a busy process would reconnect.
      idleTimeout: Math.min(60_000, waitTimeoutS * 500),
      enableKeepAlive: true,
      keepAliveInitialDelay: 10_000,
      ...hosts.fields,
    });
    return new MysqlPool(pool, dataSource, templates, clock, waitTimeoutS, hosts);
  }

  transaction<T>(work: () => Work<T>, lockWaits?: number): Promise<T> {
    const attempt = async () => {
      const connection = await this.#connect();
      let committing = false;
      try {
        await this.#text(connection, 'START TRANSACTION');
        const value = await this.#drive(connection, work);
        committing = true;
        await this.#text(connection, 'COMMIT');
        this.#release(connection);
        return value;
      } catch (error) {
        await this.#undo(connection, error);
        if (committing && remedyFor(error) === 'reconnect') throw unavailable(error, 'unknown');
        throw error;
      }
    };
    return persist(this.clock, attempt, lockWaits);
  }

  repeatable<T>(work: () => Work<T>): Promise<T> {
    return persist(this.clock, () => this.#autocommit(work));
  }

  once<T>(work: () => Work<T>): Promise<T> {
    return this.#numbered.commit(work);
  }

  async within<T>(transaction: Parameters<SqlDatabase['within']>[0], work: () => Work<T>): Promise<T> {
    const runner = callersRunner(this.dataSource, transaction);
    return runner ? onRunner(runner, this.templates, work) : this.once(work);
  }

  ofApplication<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.dataSource.transaction(work);
  }

  /** A connection for tests of the server, to be released or destroyed by the caller. */
  async borrow(): Promise<{ send<T>(work: () => Work<T>): Promise<T>; drop(): void }> {
    const connection = await this.#connect();
    return { send: (work) => this.#drive(connection, work), drop: () => connection.destroy() };
  }

  /** Waits for statements under way, but not long for a server that does not answer them. */
  async close(): Promise<void> {
    const waiting = new AbortController();
    await Promise.race([this.#numbered.close(), this.clock.sleep(CLOSE_TIMEOUT_MS, waiting.signal)]);
    const ended = new Promise<void>((resolve) => this.pool.end(() => resolve()));
    await Promise.race([ended, this.clock.sleep(CLOSE_TIMEOUT_MS, waiting.signal)]);
    waiting.abort();
    this.#watch.stop();
  }

  async #autocommit<T>(work: () => Work<T>): Promise<T> {
    const connection = await this.#connect();
    try {
      const value = await this.#drive(connection, work);
      this.#release(connection);
      return value;
    } catch (error) {
      await this.#undo(connection, error);
      throw error;
    }
  }

  #drive<T>(connection: PoolConnection, work: () => Work<T>): Promise<T> {
    return drive(work(), (statement: Statement) => {
      const { text, values } = this.templates.bind(statement);
      return this.#text(connection, text, values);
    });
  }

  #text(connection: PoolConnection, sql: string, values: readonly SqlValue[] = []): Promise<Answer> {
    return new Promise((resolve, reject) => {
      // Not the driver's own timeout: where the connection breaks, that one goes on and keeps the process alive.
      const answered = this.#watch.begin(() => reject(noAnswer(this.#answerTimeoutMs)));
      connection.query({ sql, values: values as SqlValue[] }, (error, result) => {
        answered();
        if (error) return reject(error);
        if (Array.isArray(result)) return resolve({ rows: result as never, changed: 0, insertId: 0 });
        const { affectedRows, insertId } = result as ResultSetHeader;
        resolve({ rows: [], changed: affectedRows, insertId, idStep: this.#idSteps.get(connection) });
      });
    });
  }

  /** From the first node that answers and may be written to, beginning with the one that did so last. */
  async #connect(): Promise<PoolConnection> {
    for (let tries = 1; ; tries++) {
      const { current } = this.hosts;
      try {
        return await this.#connected();
      } catch (error) {
        this.hosts.leave(current);
        if (tries >= this.hosts.count) throw error;
      }
    }
  }

  async #connected(): Promise<PoolConnection> {
    for (;;) {
      const connection = await this.#acquire();
      const usedAt = this.#usedAt.get(connection);
      if (usedAt === undefined) await this.#setUp(connection);
      // The server may have closed what was idle for long, and this process, if it was busy, has not heard of it yet. A
      // statement sent there would be one of unknown outcome.
      else if (this.clock.monotonic() - usedAt > this.waitTimeoutS * 250 && !(await this.#answers(connection)))
        continue;
      return connection;
    }
  }

  async #acquire(): Promise<PoolConnection> {
    try {
      return await new Promise<PoolConnection>((resolve, reject) => {
        this.pool.getConnection((error, connection) => (error ? reject(error) : resolve(connection)));
      });
    } catch (error) {
      // Refused before anything was sent, for whatever reason: the caller may ask again.
      throw remedyFor(error) === 'none' ? unavailable(error, 'not-done') : error;
    }
  }

  async #setUp(connection: PoolConnection): Promise<void> {
    try {
      if (this.hosts.count > 0) await this.#requireWritable(connection);
      await this.#text(connection, 'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
      await this.#text(
        connection,
        `SET SESSION sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION', autocommit = 1, wait_timeout = ?,
           innodb_lock_wait_timeout = ?, eq_range_index_dive_limit = 1`,
        [this.waitTimeoutS, LOCK_WAIT_S],
      );
      const [galera] = (await this.#text(connection, GALERA)).rows;
      if (Number(galera?.['Value'] ?? 0) > 0) return;
      await this.#shortenRowImage(connection);
      const [row] = (await this.#text(connection, ID_STEP)).rows;
      this.#idSteps.set(connection, Number(row!['step']));
    } catch (error) {
      connection.destroy();
      throw error;
    }
  }

  /** A node that a failover has made a replica still answers. */
  async #requireWritable(connection: PoolConnection): Promise<void> {
    const [row] = (await this.#text(connection, 'SELECT @@GLOBAL.read_only AS is_read_only')).rows;
    if (Number(row!['is_read_only']) === 0) return;
    throw Object.assign(new Error('The node may not be written to'), { errno: 1290 });
  }

  async #shortenRowImage(connection: PoolConnection): Promise<void> {
    if (this.#isRowImageDenied) return;
    try {
      await this.#text(connection, SHORT_ROW_IMAGE);
    } catch (error) {
      if ((error as { errno?: number }).errno !== ACCESS_DENIED) throw error;
      this.#isRowImageDenied = true;
    }
  }

  async #answers(connection: PoolConnection): Promise<boolean> {
    try {
      await this.#text(connection, 'DO 0');
      return true;
    } catch {
      connection.destroy();
      return false;
    }
  }

  #release(connection: PoolConnection): void {
    this.#usedAt.set(connection, this.clock.monotonic());
    connection.release();
  }

  /** Leaves nothing of a failed transaction behind; a connection of doubtful state is not used again. */
  async #undo(connection: PoolConnection, error: unknown): Promise<void> {
    if (remedyFor(error) === 'reconnect' || error instanceof StoreUnavailableError) return connection.destroy();
    try {
      await this.#text(connection, 'ROLLBACK');
      this.#release(connection);
    } catch {
      connection.destroy();
    }
  }
}

function noAnswer(timeoutMs: number): Error {
  const problem = new Error(`The server did not answer a statement within ${timeoutMs / 1_000} s.`);
  return Object.assign(problem, { code: 'PROTOCOL_SEQUENCE_TIMEOUT', fatal: true });
}
