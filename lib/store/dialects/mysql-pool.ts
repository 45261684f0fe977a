import type { Pool, PoolConnection } from 'mysql2';
import type { DataSource } from 'typeorm';
import type { CallerTransaction } from '../job-store.js';
import type { Clock } from '../../time/clock.js';
import { within } from '../../time/within.js';
import { applicationTransaction, type ApplicationWork } from '../sql/application-transaction.js';
import { callersRunner, onRunner } from '../sql/callers-transaction.js';
import { explaining } from '../sql/missing-privilege.js';
import { isUnsent, remedyFor } from '../sql/remedy.js';
import { persist, unavailable } from '../sql/patience.js';
import type { SqlDatabase } from '../sql/sql-database.js';
import { drive, type Answer, type Decided, type Statement, type Work } from '../sql/statement.js';
import type { BoundStatement, Templates } from '../sql/template.js';
import { connectionFields, driverOf, type MysqlOptions } from './mysql-options.js';
import { Hosts } from './hosts.js';
import { MysqlConnections } from './mysql-connections.js';
import { withLiterals } from './mysql-literals.js';
import { MysqlSessions } from './mysql-sessions.js';
import { MysqlSockets } from './mysql-sockets.js';
import { MysqlTransaction } from './mysql-transaction.js';
import { MysqlWire } from './mysql-wire.js';
import { NumberedCommits } from './numbered-commits.js';

// Enough for the claims of many queues, a flush and a heartbeat side by side; each statement takes milliseconds.
const POOL_SIZE = 5;

const CLOSE_TIMEOUT_MS = 400;

/** A connection that is out of the pool for good. */
export interface Borrowed {
  send<T>(work: () => Work<T>): Promise<T>;
  /** Calls once the server, or the network, has ended the connection. */
  onEnd(act: () => void): void;
  /** Ends it at once, whatever is under way on it. */
  drop(): void;
}

/**
 * The library's own connections, with its own session settings, so that a handler that uses up the application's pool
 * cannot starve a heartbeat and the application's settings stay as they are.
 */
export class MysqlPool implements SqlDatabase {
  readonly #wire: MysqlWire;
  readonly #sessions: MysqlSessions;
  readonly #connections: MysqlConnections;
  readonly #numbered: NumberedCommits;
  readonly #sockets: MysqlSockets;
  readonly #closed = new AbortController();

  private constructor(
    private readonly pool: Pool,
    private readonly dataSource: DataSource,
    private readonly templates: Templates,
    private readonly clock: Clock,
    waitTimeoutS: number,
    hosts: Hosts,
  ) {
    this.#sockets = new MysqlSockets(pool);
    this.#wire = new MysqlWire(clock, waitTimeoutS);
    this.#sessions = new MysqlSessions(waitTimeoutS, hosts);
    this.#connections = new MysqlConnections(pool, this.#wire, this.#sessions, hosts, clock, waitTimeoutS);
    this.#numbered = new NumberedCommits(this, clock, this.#closed.signal);
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
    return explaining(() => this.#numbered.commit(writes));
  }

  decideOnce<T>(work: () => Work<Decided<T>>): Promise<T> {
    return explaining(() => this.#numbered.decide(work));
  }

  transactOnce<T>(work: () => Work<T>, hasWritten: (value: T) => boolean = () => true): Promise<T> {
    return explaining(() => this.#numbered.transact(work, hasWritten));
  }

  requireOpen(transaction: CallerTransaction): void {
    callersRunner(this.dataSource, transaction);
  }

  within<T>(transaction: CallerTransaction, work: () => Work<T>): Promise<T> {
    const bind = (statement: Statement) => withLiterals(this.templates.bind(statement));
    return explaining(() => onRunner(callersRunner(this.dataSource, transaction), bind, work));
  }

  // At REPEATABLE READ the caller's transaction sees what was committed before its own first statement.
  latest<T>(work: () => Work<T>, transaction?: CallerTransaction): Promise<T> {
    if (transaction) this.requireOpen(transaction);
    return this.repeatable(work);
  }

  ofApplication<T>(work: ApplicationWork<T>): Promise<T> {
    return applicationTransaction(this.dataSource, work);
  }

  /** A connection for what needs one to itself, to be dropped by the caller. */
  async borrow(): Promise<Borrowed> {
    const connection = await this.#connections.acquire();
    return {
      send: (work) => this.#drive(connection, work),
      onEnd: (act) => void connection.once('end', act).once('error', act),
      drop: () => this.#connections.drop(connection),
    };
  }

  /** Waits for statements under way, but not long for a server that does not answer them: then they are given up. */
  async close(): Promise<void> {
    await within(this.clock, CLOSE_TIMEOUT_MS, this.#close());
    this.#closed.abort();
    this.#wire.close();
    // A pool refuses new connections only after its end has begun.
    this.pool.end(() => undefined);
    this.#sockets.destroy();
  }

  async #close(): Promise<void> {
    await this.#numbered.close();
    if (!this.#closed.signal.aborted) await new Promise<void>((resolve) => this.pool.end(() => resolve()));
  }

  /** @param use calls `inDoubt` from where on its work may have been done although the answer to it is lost */
  async #lend<T>(use: (connection: PoolConnection, inDoubt: () => void) => Promise<T>): Promise<T> {
    const connection = await this.#connections.acquire();
    let isInDoubt = false;
    try {
      const value = await use(connection, () => (isInDoubt = true));
      this.#connections.release(connection);
      return value;
    } catch (error) {
      await this.#connections.undo(connection, error);
      if (isInDoubt && remedyFor(error) === 'reconnect' && !isUnsent(error)) throw unavailable(error, 'unknown');
      throw error;
    }
  }

  async #transact<T>(connection: PoolConnection, work: () => Work<T>, inDoubt: () => void): Promise<T> {
    const transaction = new MysqlTransaction((statements) => this.#send(connection, statements), inDoubt);
    const value = await drive(work(), ({ statements, isLast = false }) =>
      transaction.step(this.#bound(statements), isLast),
    );
    await transaction.end();
    return value;
  }

  #drive<T>(connection: PoolConnection, work: () => Work<T>): Promise<T> {
    return drive(work(), ({ statements }) => this.#send(connection, this.#bound(statements)));
  }

  #bound(statements: readonly Statement[]): BoundStatement[] {
    return statements.map((statement) => this.templates.bind(statement));
  }

  #send(connection: PoolConnection, statements: readonly BoundStatement[]): Promise<readonly Answer[]> {
    const { takeSeveral } = this.#sessions;
    return takeSeveral ? this.#wire.sendTogether(connection, statements) : this.#wire.sendEach(connection, statements);
  }
}
