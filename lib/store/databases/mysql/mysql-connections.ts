import type { Pool, PoolConnection } from 'mysql2';
import type { Socket } from 'node:net';
import { inRootContext } from '../../../common/async-context.js';
import { StoreUnavailableError } from '../../../job/errors.js';
import { storeClosedError, storeUnavailableError } from '../../core/with-retry.js';
import { classifyError, explainRejection } from '../../core/classify-error.js';
import type { Hosts } from '../port/hosts.js';
import type { MysqlSessions } from './mysql-sessions.js';
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

  release(connection: PoolConnection): void {
    connection.release();
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
      this.release(connection);
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
