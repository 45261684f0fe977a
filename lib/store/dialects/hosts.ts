import type { PoolOptions } from 'mysql2';
import { connect } from 'node:net';
import { seen } from '../../job/expectation.js';

export interface Host {
  readonly host: string;
  readonly port: number;
}

/** Nodes, and how often one of them has been left: in memory that threads of a process share, so that all go to the same. */
export interface HostList {
  /** As `host` or `host:port`. */
  readonly names: readonly string[];
  readonly turn: Int32Array<SharedArrayBuffer>;
}

export function hostList(names: readonly string[] = []): HostList {
  return { names, turn: new Int32Array(new SharedArrayBuffer(4)) };
}

/**
 * The nodes of a cluster, of which the library's connections go to one: to another as soon as that one is away or may not
 * be written to. None: then they go where the DataSource's do.
 */
export class Hosts {
  readonly #hosts: readonly Host[];
  readonly #turn: HostList['turn'];

  constructor({ names, turn }: HostList = hostList()) {
    this.#hosts = names.map(parseHost);
    this.#turn = turn;
  }

  get count(): number {
    return this.#hosts.length;
  }

  /** How often a node has been left. A connection made in an earlier turn goes to another one than those made now. */
  get turn(): number {
    return Atomics.load(this.#turn, 0);
  }

  get current(): Host | undefined {
    return this.#hosts[this.turn % this.count];
  }

  /** New connections go to the next one, unless the node of that turn was left already. */
  leave(turn: number): void {
    if (this.count > 1) Atomics.compareExchange(this.#turn, 0, turn, turn + 1);
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
