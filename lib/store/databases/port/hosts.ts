import { connect, type Socket } from 'node:net';
import { formatValue } from '../../../job/expectation.js';

export interface Host {
  readonly host: string;
  readonly port: number;
}

/** Nodes and the number of failovers, in shared memory, so that all threads of a process connect to the same node. */
export interface HostList {
  /** As `host` or `host:port`. */
  readonly names: readonly string[];
  readonly generation: Int32Array<SharedArrayBuffer>;
}

export function hostList(names: readonly string[] = []): HostList {
  return { names, generation: new Int32Array(new SharedArrayBuffer(4)) };
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

export function hostProblem(given: unknown): string | undefined {
  const { host, port } = typeof given === 'string' ? parseHost(given, 1) : { host: '', port: 0 };
  if (host !== '' && Number.isInteger(port) && port >= 1 && port <= 65_535) return undefined;
  return `expected hosts to be names like '10.0.0.1' or 'db-1:3306', got ${formatValue(given)}`;
}

function parseHost(given: string, defaultPort: number): Host {
  const [, host = '', port = defaultPort] = /^(\[[^\]]+\]|[^:\s]+)(?::(\d+))?$/.exec(given) ?? [];
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}
