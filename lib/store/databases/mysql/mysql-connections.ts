import type { Pool, PoolConnection, ResultSetHeader } from 'mysql2';
import { connect, isIP, type Socket } from 'node:net';
import { inRootContext } from '../../../common/async-context.js';
import type { Clock } from '../../../common/clock.js';
import { StoreUnavailableError } from '../../../job/errors.js';
import { classifyError, explainRejection, IDLE_CONNECTION } from '../../core/classify-error.js';
import type { StatementResult } from '../../core/statement.js';
import { storeClosedError, storeUnavailableError } from '../../core/with-retry.js';
import { hostList, parseHost, type Host, type HostList } from '../port/hosts.js';
import type { MysqlSessions, Send } from './mysql-sessions.js';

// If a server does not answer within the shortest lease, kept within these limits, the connection is dropped and the
// work is repeated. The minimum is longer than every wait that the server itself ends.
const MIN_ANSWER_TIMEOUT_MS = 5_000;
const MAX_ANSWER_TIMEOUT_MS = 30_000;

const STATEMENT_SEPARATOR = ';\n';
// Far below the default max_allowed_packet. A single statement may be longer.
const MAX_TEXT_LENGTH = 1_000_000;

/** The library's connections: they answer, on a writable node, with a configured session. Statements are sent as text. */
export class MysqlConnections {
  /** The generation of the hosts in which each connection was opened. Only configured connections have an entry. */
  readonly #generations = new WeakMap<PoolConnection, number>();
  readonly #idSteps = new WeakMap<PoolConnection, number>();
  /** By the monotonic clock. */
  readonly #answeredAt = new WeakMap<PoolConnection, number>();
  readonly #kept = new WeakSet<PoolConnection>();
  readonly #answerTimeoutMs: number;
  readonly #timeouts: AnswerTimeouts;
  #lastTimeoutAt = -Infinity;

  /** @param waitTimeoutS the server closes a session that is idle for this long */
  constructor(
    private readonly pool: Pool,
    private readonly sessions: MysqlSessions,
    private readonly hosts: Hosts,
    private readonly clock: Clock,
    private readonly waitTimeoutS: number,
  ) {
    const timeoutMs = Math.max(MIN_ANSWER_TIMEOUT_MS, waitTimeoutS * 1_000);
    this.#answerTimeoutMs = Math.min(MAX_ANSWER_TIMEOUT_MS, timeoutMs);
    this.#timeouts = new AnswerTimeouts(clock, this.#answerTimeoutMs);
  }

  /** A connection to the first node that answers and is writable, starting with the current one. */
  async acquire(): Promise<PoolConnection> {
    for (let tries = 1; ; tries++) {
      const { generation } = this.hosts;
      try {
        return await this.#acquireFrom();
      } catch (error) {
        this.hosts.failOver(generation);
        if (tries >= this.hosts.count) throw error;
      }
    }
  }

  /** Also destroys the socket: the driver only sends COM_QUIT, which a server that hangs does not read. */
  drop(connection: PoolConnection): void {
    connection.destroy();
    (connection as PoolConnection & { stream: Socket }).stream.destroy();
  }

  /** Drops the connection if its state is unknown. */
  async rollBack(connection: PoolConnection, error: unknown): Promise<void> {
    if (classifyError(error) === 'reconnect' || error instanceof StoreUnavailableError) return this.drop(connection);
    try {
      await this.send(connection, 'ROLLBACK');
      connection.release();
    } catch {
      this.drop(connection);
    }
  }

  /** Refuses no statement on this connection because it was idle: its user sets wait_timeout, or drops it soon. */
  keep(connection: PoolConnection): void {
    this.#kept.add(connection);
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

  async #acquireFrom(): Promise<PoolConnection> {
    for (;;) {
      const { generation } = this.hosts;
      const connection = await this.#fromPool();
      const isNew = !this.#generations.has(connection);
      if (isNew) {
        await this.#setUp(connection);
        this.#generations.set(connection, generation);
      }
      // Nodes of Galera do not share row locks. A heartbeat on one node would make each flush on another node fail, if
      // the flush takes longer than the interval between heartbeats.
      const isOnFormerHost = this.#generations.get(connection) !== this.hosts.generation;
      if (!isOnFormerHost && (isNew || (await this.#isUsable(connection)))) return connection;
      this.drop(connection);
    }
  }

  async #fromPool(): Promise<PoolConnection> {
    try {
      return await new Promise<PoolConnection>((resolve, reject) => {
        // The events of a new connection belong to no caller.
        inRootContext(() =>
          this.pool.getConnection((error, connection) => (error ? reject(error) : resolve(connection))),
        );
      });
    } catch (error) {
      // mysql2 gives this error no code.
      if ((error as Error | null)?.message === 'Pool is closed.') throw storeClosedError();
      const denied = explainRejection(error);
      if (denied !== error) throw denied;
      // Nothing was sent, so the caller may retry.
      throw classifyError(error) === 'none' ? storeUnavailableError(error, 'not-done') : error;
    }
  }

  async #setUp(connection: PoolConnection): Promise<void> {
    try {
      const send = async (...statements: string[]) => (await this.sendTogether(connection, statements)).at(-1)!.rows;
      if (this.hosts.count > 0) await requireWritable(send);
      const idStep = await this.sessions.setUp(send);
      if (idStep !== undefined) this.#idSteps.set(connection, idStep);
    } catch (error) {
      this.drop(connection);
      throw error;
    }
  }

  async #isUsable(connection: PoolConnection): Promise<boolean> {
    const idleMs = this.#idleMs(connection);
    // If one connection has timed out, the others are suspect too, and each would cost another timeout.
    if (this.#lastTimeoutAt > this.clock.monotonic() - idleMs) return false;
    // The server may have closed a connection that was idle for long, and a busy process may not have received that
    // yet. A statement sent there would have an unknown outcome.
    if (idleMs <= this.waitTimeoutS * 250) return true;
    return this.send(connection, 'DO 0').then(
      () => true,
      () => false,
    );
  }

  /** Milliseconds since the last answer. */
  #idleMs(connection: PoolConnection): number {
    const now = this.clock.monotonic();
    return now - (this.#answeredAt.get(connection) ?? now);
  }

  #query(connection: PoolConnection, sql: string): Promise<unknown> {
    // After a standstill of the process, the last packet of a server that has closed the session may wait to be read. The
    // driver would take it for the answer to this statement, and print that packets are out of order.
    if (this.#idleMs(connection) > this.waitTimeoutS * 750 && !this.#kept.has(connection))
      return Promise.reject(idleError());
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

/** Rejects for a node that a failover has made a replica: it still answers. */
async function requireWritable(send: Send): Promise<void> {
  const [row] = await send('SELECT @@GLOBAL.read_only AS is_read_only');
  // A number, or OFF, ON, NO_LOCK or NO_LOCK_NO_ADMIN from MariaDB 12 on.
  if (['0', 'OFF'].includes(String(row!['is_read_only']))) return;
  throw Object.assign(new Error('The node is read-only'), { errno: 1290 });
}

/**
 * The nodes of a cluster. All connections of the library go to one node, and to the next one if that node is
 * unreachable or read-only. Without nodes they go to the DataSource's host.
 */
export class Hosts {
  readonly #hosts: readonly Host[];
  readonly #generation: HostList['generation'];

  /** @param defaultPort of hosts without a port */
  constructor({ names, generation }: HostList = hostList(), defaultPort = 3306) {
    this.#hosts = names.map((name) => parseHost(name, defaultPort));
    this.#generation = generation;
  }

  get count(): number {
    return this.#hosts.length;
  }

  /** The number of failovers. A connection of an earlier generation goes to another node than a new one. */
  get generation(): number {
    return Atomics.load(this.#generation, 0);
  }

  get current(): Host | undefined {
    return this.#hosts[this.generation % this.count];
  }

  /** Directs new connections to the next node, unless another caller has already failed over from generation `from`. */
  failOver(from: number): void {
    if (this.count > 1) Atomics.compareExchange(this.#generation, 0, from, from + 1);
  }

  /** Options for a driver that connect each new connection to the node that is current at that time. */
  get connectionOptions(): { stream?: (connection: { config: { host?: string } }) => Socket } {
    if (this.count === 0) return {};
    return {
      stream: ({ config }) => {
        const { host, port } = this.current!;
        // The name that TLS verifies. Certificates rarely have addresses, and the driver cannot verify these.
        if (isIP(host) === 0) config.host = host;
        return connect({ host, port, noDelay: true, keepAlive: true });
      },
    };
  }
}
