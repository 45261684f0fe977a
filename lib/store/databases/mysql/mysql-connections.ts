import type { Pool, PoolConnection } from 'mysql2';
import { connect, type Socket } from 'node:net';
import { inRootContext } from '../../../common/async-context.js';
import { StoreUnavailableError } from '../../../job/errors.js';
import { storeClosedError, storeUnavailableError } from '../../core/with-retry.js';
import { classifyError, explainRejection } from '../../core/classify-error.js';
import { hostList, parseHost, type Host, type HostList } from '../port/hosts.js';
import type { MysqlSessions, Send } from './mysql-sessions.js';
import type { MysqlWire } from './mysql-wire.js';

/** Connections that answer, on a writable node, with a configured session. */
export class MysqlConnections {
  /** The generation of the hosts in which each connection was opened. Only configured connections have an entry. */
  readonly #generations = new WeakMap<PoolConnection, number>();

  constructor(
    private readonly pool: Pool,
    private readonly wire: MysqlWire,
    private readonly sessions: MysqlSessions,
    private readonly hosts: Hosts,
    private readonly waitTimeoutS: number,
  ) {}

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
      await this.wire.send(connection, 'ROLLBACK');
      connection.release();
    } catch {
      this.drop(connection);
    }
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
      const send = async (...statements: string[]) =>
        (await this.wire.sendTogether(connection, statements)).at(-1)!.rows;
      if (this.hosts.count > 0) await requireWritable(send);
      const idStep = await this.sessions.setUp(send);
      if (idStep !== undefined) this.wire.setIdStep(connection, idStep);
    } catch (error) {
      this.drop(connection);
      throw error;
    }
  }

  async #isUsable(connection: PoolConnection): Promise<boolean> {
    // If one connection has timed out, the others are suspect too, and each would cost another timeout.
    if (this.wire.isSuspect(connection)) return false;
    // The server may have closed a connection that was idle for long, and a busy process may not have received that
    // yet. A statement sent there would have an unknown outcome.
    if (this.wire.idleMs(connection) <= this.waitTimeoutS * 250) return true;
    return this.wire.send(connection, 'DO 0').then(
      () => true,
      () => false,
    );
  }
}

/** Rejects for a node that a failover has made a replica: it still answers. */
async function requireWritable(send: Send): Promise<void> {
  const [row] = await send('SELECT @@GLOBAL.read_only AS is_read_only');
  if (Number(row!['is_read_only']) === 0) return;
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
  get connectionOptions(): { stream?: () => Socket } {
    if (this.count === 0) return {};
    return { stream: () => connect({ ...this.current!, noDelay: true, keepAlive: true }) };
  }
}

/** Part of mysql2's pool since version 3.0, but not of its types. Connections that are still opening are only here. */
interface PoolInternals {
  readonly _allConnections?: { readonly length: number; get(index: number): { readonly stream?: Socket } };
}

/** The sockets of a pool, including closed connections: the driver forgets them before the server closes its side. */
export class MysqlSockets {
  readonly #open = new Set<Socket>();

  constructor(private readonly pool: Pool) {
    this.#trackOpen();
    pool.on('connection', () => this.#trackOpen());
  }

  /** Destroys all sockets. The socket of a server that does not answer would keep the process alive. */
  destroy(): void {
    this.#trackOpen();
    for (const socket of this.#open) socket.destroy();
  }

  #trackOpen(): void {
    const { _allConnections: all } = this.pool as unknown as PoolInternals;
    for (let i = 0; i < (all?.length ?? 0); i++) {
      const { stream } = all!.get(i);
      if (!stream || stream.destroyed || this.#open.has(stream)) continue;
      this.#open.add(stream);
      stream.once('close', () => this.#open.delete(stream));
    }
  }
}
