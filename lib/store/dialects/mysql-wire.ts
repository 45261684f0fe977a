import type { PoolConnection, ResultSetHeader } from 'mysql2';
import type { Clock } from '../../time/clock.js';
import type { Answer, SqlValue } from '../sql/statement.js';
import type { BoundStatement } from '../sql/template.js';
import { AnswerWatch } from './answer-watch.js';

// A server that does not answer within the shortest lease, with these limits, is taken for gone: the connection is dropped
// and the work done again. Longer than any wait that the server itself ends.
const SHORTEST_ANSWER_TIMEOUT_MS = 5_000;
const LONGEST_ANSWER_TIMEOUT_MS = 30_000;

const BETWEEN_STATEMENTS = ';\n';
// Far below any server's max_allowed_packet. One statement by itself may be longer.
const LONGEST_TEXT = 1_000_000;

/** Statements as texts that a server reads, and its answers to them. */
export class MysqlWire {
  readonly #watch: AnswerWatch;
  readonly #answerTimeoutMs: number;
  readonly #idSteps = new WeakMap<PoolConnection, number>();
  #silentAt = -Infinity;

  constructor(
    private readonly clock: Clock,
    waitTimeoutS: number,
  ) {
    const timeoutMs = Math.max(SHORTEST_ANSWER_TIMEOUT_MS, waitTimeoutS * 1_000);
    this.#answerTimeoutMs = Math.min(LONGEST_ANSWER_TIMEOUT_MS, timeoutMs);
    this.#watch = new AnswerWatch(clock, this.#answerTimeoutMs);
  }

  /** When a server was last given up because it did not answer, by the monotonic clock. */
  get silentAt(): number {
    return this.#silentAt;
  }

  /** @param idStep how far the ids of one INSERT are apart on this connection */
  setIdStep(connection: PoolConnection, idStep: number): void {
    this.#idSteps.set(connection, idStep);
  }

  /** As one text, unless it gets too long. */
  async sendTogether(connection: PoolConnection, statements: readonly BoundStatement[]): Promise<readonly Answer[]> {
    if (statements.length === 1 || lengthOf(statements) > LONGEST_TEXT) return this.sendEach(connection, statements);
    const sql = statements.map(({ text }) => text).join(BETWEEN_STATEMENTS);
    const values = statements.flatMap((statement) => statement.values);
    const results = (await this.#query(connection, sql, values)) as readonly unknown[];
    return results.map((result) => this.#answer(connection, result));
  }

  /** One after the other. */
  async sendEach(connection: PoolConnection, statements: readonly BoundStatement[]): Promise<readonly Answer[]> {
    const answers: Answer[] = [];
    for (const { text, values } of statements) answers.push(await this.send(connection, text, values));
    return answers;
  }

  async send(connection: PoolConnection, sql: string, values?: readonly SqlValue[]): Promise<Answer> {
    return this.#answer(connection, await this.#query(connection, sql, values));
  }

  /** Rejects all statements under way, and later ones. */
  close(): void {
    this.#watch.stop();
  }

  #query(connection: PoolConnection, sql: string, values: readonly SqlValue[] = []): Promise<unknown> {
    return new Promise((resolve, reject) => {
      // Not the driver's own timeout: where the connection breaks, that one goes on and keeps the process alive.
      const answered = this.#watch.begin(() => {
        this.#silentAt = this.clock.monotonic();
        reject(this.#watch.isStopped ? closed() : noAnswer(this.#answerTimeoutMs));
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
}

function noAnswer(timeoutMs: number): Error {
  const problem = new Error(`The server did not answer a statement within ${timeoutMs / 1_000} s.`);
  return Object.assign(problem, { code: 'PROTOCOL_SEQUENCE_TIMEOUT', fatal: true });
}

function closed(): Error {
  const problem = new Error('The queue was closed before the server answered a statement.');
  return Object.assign(problem, { code: 'PROTOCOL_CONNECTION_LOST', fatal: true });
}

function lengthOf(statements: readonly BoundStatement[]): number {
  let length = 0;
  for (const { text, values } of statements) {
    length += text.length;
    for (const value of values) length += typeof value === 'string' ? value.length : 10;
  }
  return length;
}
