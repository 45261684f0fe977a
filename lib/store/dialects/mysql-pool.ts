import type { PoolConnection, ResultSetHeader } from 'mysql2';
import type { DataSource, EntityManager } from 'typeorm';
import { StoreUnavailableError } from '../../job/errors.js';
import type { CallerTransaction } from '../job-store.js';
import type { Clock } from '../../time/clock.js';
import { callersRunner, onRunner } from '../sql/callers-transaction.js';
import { isUnsent, remedyFor } from '../sql/remedy.js';
import { persist, unavailable } from '../sql/patience.js';
import type { SqlDatabase } from '../sql/sql-database.js';
import { drive, type Answer, type SqlValue, type Statement, type Work } from '../sql/statement.js';
import type { BoundStatement, Templates } from '../sql/template.js';
import { AnswerWatch } from './answer-watch.js';
import { connectionFields, driverOf, type MysqlOptions } from './mysql-connection.js';
import { Hosts } from './hosts.js';
import { MysqlSessions } from './mysql-sessions.js';
import { MysqlTransaction } from './mysql-transaction.js';
import { NumberedCommits } from './numbered-commits.js';

type Pool = import('mysql2').Pool;

// Enough for the claims of many queues, a flush and a heartbeat side by side; each statement takes milliseconds.
const POOL_SIZE = 5;

// A server that does not answer within the shortest lease, with these limits, is taken for gone: the connection is dropped
// and the work done again. Longer than any wait that the server itself ends.
const SHORTEST_ANSWER_TIMEOUT_MS = 5_000;
const LONGEST_ANSWER_TIMEOUT_MS = 30_000;

const BETWEEN_STATEMENTS = ';\n';
// Far below any server's max_allowed_packet. One statement by itself may be longer.
const LONGEST_TEXT = 1_000_000;

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
  readonly #sessions: MysqlSessions;
  readonly #answerTimeoutMs: number;
  /** What was used before this moment is not used again. */
  #distrustedAt = -Infinity;

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
    this.#sessions = new MysqlSessions(waitTimeoutS, hosts);
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
      multipleStatements: true,
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
    const attempt = () => this.#lend((connection, inDoubt) => this.#transact(connection, work, inDoubt));
    return persist(this.clock, attempt, lockWaits);
  }

  /** Whether the answer to an INSERT says how far its ids are apart. */
  get hasFixedIdStep(): boolean {
    return !this.#sessions.isGalera;
  }

  repeatable<T>(work: () => Work<T>): Promise<T> {
    return persist(this.clock, () => this.#lend((connection) => this.#drive(connection, work)));
  }

  once(writes: readonly Statement[]): Promise<readonly Answer[]> {
    return this.#numbered.commit(writes);
  }

  isOpen(transaction: CallerTransaction): boolean {
    return callersRunner(this.dataSource, transaction) !== undefined;
  }

  within<T>(transaction: CallerTransaction, work: () => Work<T>): Promise<T> {
    return onRunner(callersRunner(this.dataSource, transaction)!, this.templates, work);
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

  /** @param use calls `inDoubt` from where on its work may have been done although the answer to it is lost */
  async #lend<T>(use: (connection: PoolConnection, inDoubt: () => void) => Promise<T>): Promise<T> {
    const connection = await this.#connect();
    let isInDoubt = false;
    try {
      const value = await use(connection, () => (isInDoubt = true));
      this.#release(connection);
      return value;
    } catch (error) {
      await this.#undo(connection, error);
      if (isInDoubt && remedyFor(error) === 'reconnect' && !isUnsent(error)) throw unavailable(error, 'unknown');
      throw error;
    }
  }

  async #transact<T>(connection: PoolConnection, work: () => Work<T>, inDoubt: () => void): Promise<T> {
    const transaction = new MysqlTransaction((statements) => this.#sendAll(connection, statements), inDoubt);
    const value = await drive(work(), ({ statements, isLast = false }) =>
      transaction.step(this.#bound(statements), isLast),
    );
    await transaction.end();
    return value;
  }

  #drive<T>(connection: PoolConnection, work: () => Work<T>): Promise<T> {
    return drive(work(), ({ statements }) => this.#sendAll(connection, this.#bound(statements)));
  }

  #bound(statements: readonly Statement[]): BoundStatement[] {
    return statements.map((statement) => this.templates.bind(statement));
  }

  /** As one text, where the connection takes it and it does not get too long. */
  async #sendAll(connection: PoolConnection, statements: readonly BoundStatement[]): Promise<readonly Answer[]> {
    const answers: Answer[] = [];
    if (statements.length === 1 || !this.#sessions.takeSeveral || lengthOf(statements) > LONGEST_TEXT) {
      for (const { text, values } of statements) answers.push(await this.#text(connection, text, values));
      return answers;
    }
    const sql = statements.map(({ text }) => text).join(BETWEEN_STATEMENTS);
    const values = statements.flatMap((statement) => statement.values);
    const results = (await this.#send(connection, sql, values)) as readonly unknown[];
    return results.map((result) => this.#answer(connection, result));
  }

  async #text(connection: PoolConnection, sql: string, values?: readonly SqlValue[]): Promise<Answer> {
    return this.#answer(connection, await this.#send(connection, sql, values));
  }

  #send(connection: PoolConnection, sql: string, values: readonly SqlValue[] = []): Promise<unknown> {
    return new Promise((resolve, reject) => {
      // Not the driver's own timeout: where the connection breaks, that one goes on and keeps the process alive.
      const answered = this.#watch.begin(() => {
        this.#distrustedAt = this.clock.monotonic();
        reject(noAnswer(this.#answerTimeoutMs));
      });
      connection.query({ sql, values: values as SqlValue[] }, (error, result) => {
        answered();
        if (error) reject(error);
        else resolve(result);
      });
    });
  }

  #answer(connection: PoolConnection, result: unknown): Answer {
    if (Array.isArray(result)) return { rows: result as Answer['rows'], changed: 0, insertId: 0 };
    const { affectedRows, insertId } = result as ResultSetHeader;
    return { rows: [], changed: affectedRows, insertId, idStep: this.#idSteps.get(connection) };
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
      // Where one has fallen silent, those beside it have, and each would take as long to tell.
      else if (usedAt < this.#distrustedAt) {
        connection.destroy();
        continue;
      }
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
      const send = async (sql: string, values?: readonly SqlValue[]) =>
        (await this.#text(connection, sql, values)).rows;
      const idStep = await this.#sessions.setUp(send);
      if (idStep !== undefined) this.#idSteps.set(connection, idStep);
    } catch (error) {
      connection.destroy();
      throw error;
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

function lengthOf(statements: readonly BoundStatement[]): number {
  let length = 0;
  for (const { text, values } of statements) {
    length += text.length;
    for (const value of values) length += typeof value === 'string' ? value.length : 10;
  }
  return length;
}
