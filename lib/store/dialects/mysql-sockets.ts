import type { Pool } from 'mysql2';
import type { Socket } from 'node:net';

/** Parts of mysql2's pool since version 3.0, and not of its types: connections that are still being opened are only here. */
interface PoolParts {
  readonly _allConnections?: { readonly length: number; get(index: number): { readonly stream?: Socket } };
}

/** The sockets of a pool, also of connections that have left it: the driver lets go of them before the server has closed its side. */
export class MysqlSockets {
  readonly #open = new Set<Socket>();

  constructor(private readonly pool: Pool) {
    this.#keep();
    pool.on('connection', () => this.#keep());
  }

  /** Ends them all at once. A socket whose server does not answer would keep the process alive. */
  destroy(): void {
    this.#keep();
    for (const socket of this.#open) socket.destroy();
  }

  #keep(): void {
    const { _allConnections: all } = this.pool as unknown as PoolParts;
    for (let i = 0; i < (all?.length ?? 0); i++) {
      const { stream } = all!.get(i);
      if (!stream || stream.destroyed || this.#open.has(stream)) continue;
      this.#open.add(stream);
      stream.once('close', () => this.#open.delete(stream));
    }
  }
}
