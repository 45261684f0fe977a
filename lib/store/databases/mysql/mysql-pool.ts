import type { Pool, PoolConnection } from 'mysql2';
import type { DataSource } from 'typeorm';
import { sharedAbortController, withTimeout } from '../../../common/abort.js';
import type { Clock } from '../../../common/clock.js';
import { TransactionLostError } from '../../../job/errors.js';
import {
  holdCallerTransaction,
  inApplicationTransaction,
  callerQueryRunner,
  runOnSession,
  type ApplicationWork,
  type CallerTransaction,
  type SendWork,
} from '../../core/caller-transaction.js';
import { classifyError, isUnsent } from '../../core/classify-error.js';
import { withRetry, storeUnavailableError, type OnRetry } from '../../core/with-retry.js';
import type { DedicatedConnection, SqlDatabase } from '../../core/sql-database.js';
import {
  drive,
  executeAll,
  type FinalWrites,
  type SqlValue,
  type Statement,
  type StatementResult,
  type Work,
} from '../../core/statement.js';
import type { BoundStatement, Templates } from '../../core/template.js';
import { connectionOptions, loadDriver, OWN_CONNECTION, type MysqlOptions } from './mysql-options.js';
import { MysqlConnections, Hosts } from './mysql-connections.js';
import { sendOnSession, withCompleteAnswers } from './session-settings.js';
import { MysqlSessions } from './mysql-sessions.js';
import { MysqlSockets } from './mysql-sockets.js';
import { OpenTransactions } from './open-transactions.js';
import { CommitLog } from './commit-log.js';

// Enough for the claims of many queues, a flush and a heartbeat at the same time. Each statement takes milliseconds.
const POOL_SIZE = 5;

const BEGIN = 'START TRANSACTION';
const COMMIT = 'COMMIT';

// Not SELECT … FOR UPDATE.
const PLAIN_READ = /^\s*(?:SELECT|WITH|SHOW)\b(?!.*\bFOR UPDATE\b)/s;

const CLOSE_TIMEOUT_MS = 400;

/** A lost connection has an unknown outcome then. A COMMIT that was not sent can be repeated. */
type Phase = 'committing' | 'committed';

/**
 * The library's own connections with their own session settings. A handler that exhausts the application's pool cannot
 * stop a heartbeat, and the application's sessions stay unchanged.
 */
export class MysqlPool implements SqlDatabase {
  readonly #sessions: MysqlSessions;
  readonly #connections: MysqlConnections;
  readonly #commitLog: CommitLog;
  readonly #sockets: MysqlSockets;
  #openTransactions: OpenTransactions | undefined;
  readonly #closed = sharedAbortController();
  /** Reads for transactions of callers. */
  readonly #latest: Pick<SqlDatabase, 'runIdempotent'>;

  private constructor(
    private readonly pool: Pool,
    private readonly dataSource: DataSource,
    private readonly templates: Templates,
    private readonly clock: Clock,
    waitTimeoutS: number,
    hosts: Hosts,
    private readonly onRetry: OnRetry | undefined,
    latest: Pick<SqlDatabase, 'runIdempotent'> | undefined,
  ) {
    this.#latest = latest ?? this;
    this.#sockets = new MysqlSockets(pool);
    this.#sessions = new MysqlSessions(waitTimeoutS);
    this.#connections = new MysqlConnections(pool, this.#sessions, hosts, clock, waitTimeoutS);
    this.#commitLog = new CommitLog(this, clock, this.#closed.signal);
  }

  /**
   * @param shortestLeaseMs the server releases the row locks of a host that lost power after this time
   * @param latest reads for transactions of callers, for which all connections of this pool may wait; default: this pool
   */
  static async open(
    dataSource: DataSource,
    templates: Templates,
    clock: Clock,
    shortestLeaseMs: number,
    hosts = new Hosts(),
    onRetry?: OnRetry,
    latest?: Pick<SqlDatabase, 'runIdempotent'>,
  ): Promise<MysqlPool> {
    const options = dataSource.options as MysqlOptions;
    const { createPool } = await loadDriver(options);
    const waitTimeoutS = Math.max(1, Math.ceil(shortestLeaseMs / 1_000));
    const pool = createPool({
      ...connectionOptions(options),
      ...OWN_CONNECTION,
      supportBigNumbers: true,
      bigNumberStrings: false,
      multipleStatements: true,
      // Statements have no placeholders: their values are literals. The driver would look for placeholders in each text,
      // which takes 0.2 ms for 50 kB.
      queryFormat: (sql) => sql,
      connectionLimit: POOL_SIZE,
      // mysql2 closes idle connections only if maxIdle is below the limit.
      maxIdle: POOL_SIZE - 1,
      // Shorter than the server's wait_timeout, and long enough that a busy process does not reconnect.
      idleTimeout: Math.min(60_000, waitTimeoutS * 500),
      ...hosts.connectionOptions,
    });
    return new MysqlPool(pool, dataSource, templates, clock, waitTimeoutS, hosts, onRetry, latest);
  }

  transaction<T>(work: () => Work<T>, maxLockWaits?: number): Promise<T> {
    const attempt = () => this.#withConnection((connection, enter) => this.#transact(connection, work, enter));
    return withRetry(this.clock, attempt, maxLockWaits, this.onRetry);
  }

  get hasFixedIdStep(): boolean {
    return !this.#sessions.isGalera;
  }

  runIdempotent<T>(work: () => Work<T>): Promise<T> {
    const attempt = () =>
      this.#withConnection((connection) => drive(work(), ({ statements }) => this.#sendAlone(connection, statements)));
    return withRetry(this.clock, attempt, undefined, this.onRetry);
  }

  writeOnce(writes: readonly Statement[]): Promise<readonly StatementResult[]> {
    return this.#commitLog.commit(writes);
  }

  decideOnce<T>(work: () => Work<FinalWrites<T>>): Promise<T> {
    return this.#commitLog.decide(work);
  }

  transactOnce<T>(work: () => Work<T>, hasWritten: (value: T) => boolean = () => true): Promise<T> {
    return this.#commitLog.transact(work, hasWritten);
  }

  holdCallerTransaction<T>(transaction: CallerTransaction, act: (send: SendWork) => Promise<T>): Promise<T> {
    return holdCallerTransaction(this.dataSource, transaction, act, async (runner, work, requireOwnTransaction) => {
      this.#openTransactions ??= new OpenTransactions(this.dataSource);
      if (!(await this.#openTransactions.has(runner))) throw new TransactionLostError();
      const send = (statement: Statement) => {
        requireOwnTransaction();
        return sendOnSession(runner, this.#bind(statement, ASCII_WITHOUT_ESCAPES));
      };
      const readLatest = (reads: readonly Statement[]) => this.#latest.runIdempotent(() => executeAll(reads));
      return withCompleteAnswers(runner, (beforeRead) => runOnSession(send, work, { beforeRead, readLatest }));
    });
  }

  // At REPEATABLE READ the caller's transaction would read a snapshot from its first statement.
  readLatest<T>(work: () => Work<T>, transaction?: CallerTransaction): Promise<T> {
    if (!transaction) return this.runIdempotent(work);
    callerQueryRunner(this.dataSource, transaction);
    return this.#latest.runIdempotent(work);
  }

  inApplicationTransaction<T>(work: ApplicationWork<T>): Promise<T> {
    return inApplicationTransaction(this.dataSource, work);
  }

  async openDedicated(): Promise<DedicatedConnection> {
    const connection = await this.#connections.acquire();
    this.#connections.keep(connection);
    return {
      send: (work) => drive(work(), ({ statements }) => this.#send(connection, this.#bindAll(statements))),
      onEnd: (act) => void connection.once('end', act).once('error', act),
      drop: () => this.#connections.drop(connection),
    };
  }

  /** Waits at most 400 ms for running statements, and rejects those that still run. */
  async close(): Promise<void> {
    await withTimeout(this.clock, CLOSE_TIMEOUT_MS, this.#close());
    this.#closed.abort();
    this.#openTransactions?.stop();
    this.#connections.close();
    // A pool rejects new connections only after `end` was called.
    this.pool.end(() => undefined);
    this.#sockets.destroy();
  }

  async #close(): Promise<void> {
    await this.#commitLog.close();
    if (!this.#closed.signal.aborted) await new Promise<void>((resolve) => this.pool.end(() => resolve()));
  }

  /** @param use reports its phase: before it sends COMMIT, and after the answer to that */
  async #withConnection<T>(use: (connection: PoolConnection, enter: (phase: Phase) => void) => Promise<T>): Promise<T> {
    const connection = await this.#connections.acquire();
    let phase: Phase | undefined;
    try {
      const value = await use(connection, (entered) => (phase = entered));
      connection.release();
      return value;
    } catch (error) {
      await this.#connections.rollBack(connection, error);
      const isRepeatable = phase === undefined || (phase === 'committing' && isUnsent(error));
      if (!isRepeatable && classifyError(error) === 'reconnect') throw storeUnavailableError(error, 'unknown');
      throw error;
    }
  }

  /** Sends BEGIN with the first step, and COMMIT with the last step if the work marks it. */
  async #transact<T>(connection: PoolConnection, work: () => Work<T>, enter: (phase: Phase) => void): Promise<T> {
    let isOpen = false;
    let isCommitted = false;
    const value = await drive(work(), async ({ statements, isLast = false }) => {
      const bound = this.#bindAll(statements);
      if (isCommitted) return this.#send(connection, bound);
      const begin = isOpen ? [] : [BEGIN];
      isOpen = true;
      isCommitted = isLast;
      if (isLast) enter('committing');
      const results = await this.#send(connection, [...begin, ...bound, ...(isLast ? [COMMIT] : [])]);
      if (isLast) enter('committed');
      return results.slice(begin.length, begin.length + bound.length);
    });
    if (isOpen && !isCommitted) {
      enter('committing');
      await this.#send(connection, [COMMIT]);
    }
    return value;
  }

  #bindAll(statements: readonly Statement[]): string[] {
    return statements.map((each) => this.#bind(each));
  }

  #bind(statement: Statement, quotable = WITHOUT_ESCAPES): string {
    return withLiterals(this.templates.bind(statement), quotable);
  }

  /**
   * Sends reads as a transaction of their own. A proxy may send a SELECT outside of a transaction to a replica, which does
   * not know the latest commits yet.
   */
  async #sendAlone(connection: PoolConnection, statements: readonly Statement[]): Promise<readonly StatementResult[]> {
    const texts = this.#bindAll(statements);
    if (!statements.every(({ sql }) => PLAIN_READ.test(sql))) return this.#send(connection, texts);
    const { supportsMultiStatements } = this.#sessions;
    try {
      // Reads may be sent as one text to a Galera node, too: if it aborts the transaction, nothing is half done.
      const results = await this.#send(connection, [BEGIN, ...texts, COMMIT], supportsMultiStatements);
      return results.slice(1, -1);
    } catch (error) {
      // The work may handle the error, and then use the connection again.
      if (classifyError(error) !== 'reconnect') await this.#connections.send(connection, 'ROLLBACK');
      throw error;
    }
  }

  #send(
    connection: PoolConnection,
    statements: readonly string[],
    isTogether = this.#sessions.supportsMultiStatements && !this.#sessions.isGalera,
  ): Promise<readonly StatementResult[]> {
    return isTogether
      ? this.#connections.sendTogether(connection, statements)
      : this.#connections.sendEach(connection, statements);
  }
}

// These characters have the same byte in every character set that a session can have. swe7 has letters in place of
// @ [ \ ] ^ ` { | } and ~.
const INVARIANT = /^[ !"#$%&()*+,\-./0-9:;<=>?A-Z_a-z]*$/;

/** The texts that a session whose character set is known reads as they were sent. */
// oxlint-disable-next-line no-control-regex
const WITHOUT_ESCAPES = /^[^\0-\u001f\\\u007f]*$/;

/** The texts that a session of the caller reads as they were sent, for any character set of the session and the driver. */
export const ASCII_WITHOUT_ESCAPES = /^[ -[\]-~]*$/;

/**
 * The statement with its values as literals. No value can end its literal, for any sql_mode and character set of the
 * session. The driver would escape with backslashes. NO_BACKSLASH_ESCAPES makes them ordinary characters, and in gbk,
 * sjis, big5 and others a backslash can be the second byte of a character: the quote after it would end the literal,
 * which is an SQL injection. No such character contains the byte of a quote.
 *
 * @param quotable the texts that may travel within quotes; all others travel as hexadecimal digits
 */
export function withLiterals({ text, values }: BoundStatement, quotable: RegExp): string {
  let sql = '';
  let from = 0;
  for (const value of values) {
    const at = text.indexOf('?', from);
    if (at < 0) throw countError(text, values);
    sql += text.slice(from, at) + literal(value, quotable);
    from = at + 1;
  }
  if (text.includes('?', from)) throw countError(text, values);
  return sql + text.slice(from);
}

function literal(value: SqlValue, quotable: RegExp): string {
  if (typeof value !== 'string') return String(value ?? 'NULL');
  if (INVARIANT.test(value)) return `'${value}'`;
  if (quotable.test(value)) return `_utf8mb4'${value.replaceAll("'", "''")}'`;
  return `_utf8mb4 X'${Buffer.from(value).toString('hex')}'`;
}

function countError(text: string, values: readonly SqlValue[]): Error {
  return new Error(`Expected ${values.length} values for:\n${text}`);
}
