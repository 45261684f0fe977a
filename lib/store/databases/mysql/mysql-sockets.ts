import type { Pool } from 'mysql2';
import type { Socket } from 'node:net';

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
