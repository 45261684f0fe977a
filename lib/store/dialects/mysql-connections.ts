import type { Pool, PoolConnection } from 'mysql2';
import type { Socket } from 'node:net';
import { StoreUnavailableError } from '../../job/errors.js';
import type { Clock } from '../../time/clock.js';
import { explained } from '../sql/missing-privilege.js';
import { storeClosed, unavailable } from '../sql/patience.js';
import { remedyFor } from '../sql/remedy.js';
import type { SqlValue } from '../sql/statement.js';
import type { Hosts } from './hosts.js';
import type { MysqlSessions } from './mysql-sessions.js';
import type { MysqlWire } from './mysql-wire.js';

/** Connections that answer, on a node that may be written to, with their session set up. */
export class MysqlConnections {
  /** Those whose session is set up, with the moment of their last use. */
  readonly #usedAt = new WeakMap<PoolConnection, number>();

  /** In which turn of the hosts each was made. */
  readonly #madeIn = new WeakMap<PoolConnection, number>();

  constructor(
    private readonly pool: Pool,
    private readonly wire: MysqlWire,
    private readonly sessions: MysqlSessions,
    private readonly hosts: Hosts,
    private readonly clock: Clock,
    private readonly waitTimeoutS: number,
  ) {}

  /** From the first node that answers and may be written to, beginning with the one that did so last. */
  async acquire(): Promise<PoolConnection> {
    for (let tries = 1; ; tries++) {
      const { turn } = this.hosts;
      try {
        return await this.#acquireFrom();
      } catch (error) {
        this.hosts.leave(turn);
        if (tries >= this.hosts.count) throw error;
      }
    }
  }

  release(connection: PoolConnection): void {
    this.#usedAt.set(connection, this.clock.monotonic());
    connection.release();
  }

  /** The driver would only say goodbye to the server, which may be one that does not answer. */
  drop(connection: PoolConnection): void {
    connection.destroy();
    (connection as PoolConnection & { stream: Socket }).stream.destroy();
  }

  /** Leaves nothing of a failed transaction behind; a connection of doubtful state is not used again. */
  async undo(connection: PoolConnection, error: unknown): Promise<void> {
    if (remedyFor(error) === 'reconnect' || error instanceof StoreUnavailableError) return this.drop(connection);
    try {
      await this.wire.send(connection, 'ROLLBACK');
      this.release(connection);
    } catch {
      this.drop(connection);
    }
  }

  async #acquireFrom(): Promise<PoolConnection> {
    for (;;) {
      const { turn } = this.hosts;
      const connection = await this.#fromPool();
      const usedAt = this.#usedAt.get(connection);
      if (usedAt === undefined) {
        await this.#setUp(connection);
        this.#madeIn.set(connection, turn);
      }
      // Two nodes of Galera do not know each other's locks: a heartbeat on one of them would have the other undo each flush
      // that takes longer than the time between two.
      const isElsewhere = this.#madeIn.get(connection) !== this.hosts.turn;
      if (!isElsewhere && (usedAt === undefined || (await this.#isSound(connection, usedAt)))) return connection;
      this.drop(connection);
    }
  }

  async #fromPool(): Promise<PoolConnection> {
    try {
      return await new Promise<PoolConnection>((resolve, reject) => {
        this.pool.getConnection((error, connection) => (error ? reject(error) : resolve(connection)));
      });
    } catch (error) {
      // mysql2 says no more than this.
      if ((error as Error | null)?.message === 'Pool is closed.') throw storeClosed();
      const denied = explained(error);
      if (denied !== error) throw denied;
      // Refused before anything was sent, for whatever reason: the caller may ask again.
      throw remedyFor(error) === 'none' ? unavailable(error, 'not-done') : error;
    }
  }

  async #setUp(connection: PoolConnection): Promise<void> {
    try {
      const send = async (sql: string, values?: readonly SqlValue[]) =>
        (await this.wire.send(connection, sql, values)).rows;
      const idStep = await this.sessions.setUp(send);
      if (idStep !== undefined) this.wire.setIdStep(connection, idStep);
    } catch (error) {
      this.drop(connection);
      throw error;
    }
  }

  async #isSound(connection: PoolConnection, usedAt: number): Promise<boolean> {
    // Where one has fallen silent, those beside it have, and each would take as long to tell.
    if (usedAt < this.wire.silentAt) return false;
    // The server may have closed what was idle for long, and this process, if it was busy, has not heard of it yet. A
    // statement sent there would be one of unknown outcome.
    if (this.clock.monotonic() - usedAt <= this.waitTimeoutS * 250) return true;
    return this.wire.send(connection, 'DO 0').then(
      () => true,
      () => false,
    );
  }
}
