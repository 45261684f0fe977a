import type { PoolConnection, ResultSetHeader } from 'mysql2';
import type { Clock } from '../../../common/clock.js';
import { IDLE_CONNECTION } from '../../core/classify-error.js';
import type { SqlValue, StatementResult } from '../../core/statement.js';
import type { BoundStatement } from '../../core/template.js';
import { inRootContext } from '../../../common/async-context.js';

// If a server does not answer within the shortest lease, kept within these limits, the connection is dropped and the
// work is repeated. The minimum is longer than every wait that the server itself ends.
const MIN_ANSWER_TIMEOUT_MS = 5_000;
const MAX_ANSWER_TIMEOUT_MS = 30_000;

const STATEMENT_SEPARATOR = ';\n';
// Far below the default max_allowed_packet. A single statement may be longer.
const MAX_TEXT_LENGTH = 1_000_000;

/** Sends statements as text and reads the results. */
export class MysqlWire {
  readonly #timeouts: AnswerTimeouts;
  readonly #answerTimeoutMs: number;
  readonly #maxIdleMs: number;
  readonly #idSteps = new WeakMap<PoolConnection, number>();
  /** By the monotonic clock. */
  readonly #answeredAt = new WeakMap<PoolConnection, number>();
  readonly #kept = new WeakSet<PoolConnection>();
  #lastTimeoutAt = -Infinity;

  /** @param waitTimeoutS the server closes a session that is idle for this long */
  constructor(
    private readonly clock: Clock,
    waitTimeoutS: number,
  ) {
    this.#maxIdleMs = waitTimeoutS * 750;
    const timeoutMs = Math.max(MIN_ANSWER_TIMEOUT_MS, waitTimeoutS * 1_000);
    this.#answerTimeoutMs = Math.min(MAX_ANSWER_TIMEOUT_MS, timeoutMs);
    this.#timeouts = new AnswerTimeouts(clock, this.#answerTimeoutMs);
  }

  setIdStep(connection: PoolConnection, idStep: number): void {
    this.#idSteps.set(connection, idStep);
  }

  /** Refuses no statement on this connection because it was idle: its user sets wait_timeout, or drops it soon. */
  keep(connection: PoolConnection): void {
    this.#kept.add(connection);
  }

  /** Milliseconds since the last answer. */
  idleMs(connection: PoolConnection): number {
    const now = this.clock.monotonic();
    return now - (this.#answeredAt.get(connection) ?? now);
  }

  /** Whether a statement has timed out on some connection since the last answer on this one. */
  isSuspect(connection: PoolConnection): boolean {
    return this.#lastTimeoutAt > this.clock.monotonic() - this.idleMs(connection);
  }

  /** As one text. If it is too long, sends the statements one after another. */
  async sendTogether(connection: PoolConnection, statements: readonly string[]): Promise<readonly StatementResult[]> {
    if (statements.length === 1 || lengthOf(statements) > MAX_TEXT_LENGTH) return this.sendEach(connection, statements);
    const results = (await this.#query(connection, statements.join(STATEMENT_SEPARATOR))) as readonly unknown[];
    return results.map((result) => this.#toResult(connection, result));
  }

  async sendEach(connection: PoolConnection, statements: readonly string[]): Promise<readonly StatementResult[]> {
    const results: StatementResult[] = [];
    for (const sql of statements) results.push(await this.send(connection, sql));
    return results;
  }

  async send(connection: PoolConnection, sql: string): Promise<StatementResult> {
    return this.#toResult(connection, await this.#query(connection, sql));
  }

  /** Rejects all running statements, and later ones. */
  close(): void {
    this.#timeouts.stop();
  }

  #query(connection: PoolConnection, sql: string): Promise<unknown> {
    // After a standstill of the process, the last packet of a server that has closed the session may wait to be read. The
    // driver would take it for the answer to this statement, and print that packets are out of order.
    if (this.idleMs(connection) > this.#maxIdleMs && !this.#kept.has(connection)) return Promise.reject(idleError());
    return new Promise((resolve, reject) => {
      // The driver's own timeout survives a broken connection and keeps the process alive.
      const cancelTimeout = this.#timeouts.start(() => {
        this.#lastTimeoutAt = this.clock.monotonic();
        reject(this.#timeouts.isStopped ? closedError() : answerTimeoutError(this.#answerTimeoutMs));
      });
      connection.query(sql, (error, result) => {
        cancelTimeout();
        this.#answeredAt.set(connection, this.clock.monotonic());
        if (error) reject(error);
        else resolve(result);
      });
    });
  }

  #toResult(connection: PoolConnection, result: unknown): StatementResult {
    if (Array.isArray(result)) return { rows: result as StatementResult['rows'], affectedRows: 0, insertId: 0 };
    const { affectedRows, insertId } = result as ResultSetHeader;
    return { rows: [], affectedRows: affectedRows, insertId, idStep: this.#idSteps.get(connection) };
  }
}

function idleError(): Error {
  return Object.assign(new Error('The connection was idle for so long that the server may have closed it.'), {
    code: IDLE_CONNECTION,
  });
}

function answerTimeoutError(timeoutMs: number): Error {
  const error = new Error(`The server did not answer a statement within ${timeoutMs / 1_000} s.`);
  return Object.assign(error, { code: 'PROTOCOL_SEQUENCE_TIMEOUT', fatal: true });
}

function closedError(): Error {
  const error = new Error('The queue was closed before the server answered a statement.');
  return Object.assign(error, { code: 'PROTOCOL_CONNECTION_LOST', fatal: true });
}

function lengthOf(statements: readonly string[]): number {
  return statements.reduce((sum, { length }) => sum + length, 0);
}

/** All timeouts share one timer, because nearly every answer arrives in time. */
export class AnswerTimeouts {
  /** In the order of their ends, because all have the same length. */
  readonly #pending = new Set<{ readonly until: number; readonly onTimeout: () => void }>();
  readonly #stopped = new AbortController();
  #isWatching = false;

  constructor(
    private readonly clock: Clock,
    private readonly timeoutMs: number,
  ) {}

  /** Calls `onTimeout` after the timeout, unless the returned function is called first. */
  start(onTimeout: () => void): () => unknown {
    if (this.isStopped) {
      onTimeout();
      return () => false;
    }
    const wait = { until: this.clock.monotonic() + this.timeoutMs, onTimeout };
    this.#pending.add(wait);
    if (!this.#isWatching) void inRootContext(() => this.#watch());
    return () => this.#pending.delete(wait);
  }

  get isStopped(): boolean {
    return this.#stopped.signal.aborted;
  }

  /** Times out all pending answers now, and later ones at once. */
  stop(): void {
    this.#stopped.abort();
    for (const wait of this.#pending) wait.onTimeout();
    this.#pending.clear();
  }

  async #watch(): Promise<void> {
    this.#isWatching = true;
    while (this.#pending.size > 0 && !this.isStopped) {
      const [next] = this.#pending;
      await this.clock.sleep(next!.until - this.clock.monotonic(), this.#stopped.signal);
      this.#expireOverdue();
    }
    this.#isWatching = false;
  }

  #expireOverdue(): void {
    const now = this.clock.monotonic();
    for (const wait of this.#pending) {
      if (wait.until > now) return;
      this.#pending.delete(wait);
      wait.onTimeout();
    }
  }
}

// These characters have the same byte in every character set that a session can have. swe7 has letters in place of
// @ [ \ ] ^ ` { | } and ~.
const INVARIANT = /^[ !"#$%&()*+,\-./0-9:;<=>?A-Z_a-z]*$/;

/** The texts that a session whose character set is known reads as they were sent. */
// oxlint-disable-next-line no-control-regex
export const WITHOUT_ESCAPES = /^[^\0-\u001f\\\u007f]*$/;

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
