import type { PoolOptions } from 'mysql2';
import { connect } from 'node:net';
import { seen } from '../../job/expectation.js';

export interface Host {
  readonly host: string;
  readonly port: number;
}

/**
 * The nodes of a cluster, of which the library's connections go to one: to another as soon as that one is away or may not
 * be written to. None: then they go where the DataSource's do.
 */
export class Hosts {
  readonly #hosts: readonly Host[];
  #at = 0;

  /** @param given as `host` or `host:port` */
  constructor(given: readonly string[] = []) {
    this.#hosts = given.map(parseHost);
  }

  get count(): number {
    return this.#hosts.length;
  }

  get current(): Host | undefined {
    return this.#hosts[this.#at];
  }

  /** New connections go to the next one. Says nothing of one that was left already. */
  leave(host: Host | undefined): void {
    if (host && host === this.current) this.#at = (this.#at + 1) % this.#hosts.length;
  }

  /** What mysql2 has to be told, so that each new connection goes to the one that is current by then. */
  get fields(): PoolOptions {
    if (this.count === 0) return {};
    return { stream: () => connect({ ...this.current!, noDelay: true, keepAlive: true }) };
  }
}

/** What is wrong with such a name, if anything. */
export function hostProblem(given: unknown): string | undefined {
  const { host, port } = typeof given === 'string' ? parseHost(given) : { host: '', port: 0 };
  if (host !== '' && Number.isInteger(port) && port >= 1 && port <= 65_535) return undefined;
  return `expected hosts to be names like '10.0.0.1' or 'db-1:3306', got ${seen(given)}`;
}

function parseHost(given: string): Host {
  const [, host = '', port = '3306'] = /^(\[[^\]]+\]|[^:\s]+)(?::(\d+))?$/.exec(given) ?? [];
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}
