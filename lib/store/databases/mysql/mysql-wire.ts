import type { PoolConnection, ResultSetHeader } from 'mysql2';
import type { Clock } from '../../../common/clock.js';
import type { StatementResult } from '../../core/statement.js';
import { AnswerTimeouts } from './answer-timeouts.js';

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
  readonly #idSteps = new WeakMap<PoolConnection, number>();
  #lastTimeoutAt = -Infinity;

  constructor(
    private readonly clock: Clock,
    waitTimeoutS: number,
  ) {
    const timeoutMs = Math.max(MIN_ANSWER_TIMEOUT_MS, waitTimeoutS * 1_000);
    this.#answerTimeoutMs = Math.min(MAX_ANSWER_TIMEOUT_MS, timeoutMs);
    this.#timeouts = new AnswerTimeouts(clock, this.#answerTimeoutMs);
  }

  /** By the monotonic clock. */
  get lastTimeoutAt(): number {
    return this.#lastTimeoutAt;
  }

  setIdStep(connection: PoolConnection, idStep: number): void {
    this.#idSteps.set(connection, idStep);
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
    return new Promise((resolve, reject) => {
      // The driver's own timeout survives a broken connection and keeps the process alive.
      const cancelTimeout = this.#timeouts.start(() => {
        this.#lastTimeoutAt = this.clock.monotonic();
        reject(this.#timeouts.isStopped ? closedError() : answerTimeoutError(this.#answerTimeoutMs));
      });
      connection.query(sql, (error, result) => {
        cancelTimeout();
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
