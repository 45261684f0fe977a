import { formatValue } from '../../../common/message-text.js';

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

export function hostProblem(given: unknown): string | undefined {
  const { host, port } = typeof given === 'string' ? parseHost(given, 1) : { host: '', port: 0 };
  if (host !== '' && Number.isInteger(port) && port >= 1 && port <= 65_535) return undefined;
  return `expected hosts to be names like '10.0.0.1' or 'db-1:3306', got ${formatValue(given)}`;
}

export function parseHost(given: string, defaultPort: number): Host {
  const [, host = '', port = defaultPort] = /^(\[[^\]]+\]|[^:\s]+)(?::(\d+))?$/.exec(given) ?? [];
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}
