import { readFile } from 'node:fs/promises';
import mysql from 'mysql2/promise';
import { eventually } from './eventually.js';
import { processStartTime } from './process-start-time.js';

// The parts of scripts/databases/servers.mjs that this class uses.
interface ClusterRun {
  cluster(kind: string, profile: string): Promise<{ port: number; dir: string; up(): Promise<void> }>;
  end(): Promise<void>;
}
const SERVERS = '../../scripts/databases/servers.mjs';
const NODES = 3;

export type ClusterName = 'galera' | 'group-replication';

/** A durable cluster of three nodes for one test, which may kill and restart them. */
export class OwnCluster {
  private constructor(
    private readonly run: ClusterRun,
    private readonly cluster: { port: number; dir: string; up(): Promise<void> },
  ) {}

  static async start(name: ClusterName): Promise<OwnCluster> {
    const { ServerRun } = (await import(SERVERS)) as { ServerRun: { begin(): Promise<ClusterRun> } };
    const run = await ServerRun.begin();
    try {
      return new OwnCluster(run, await run.cluster(name, 'durable'));
    } catch (error) {
      await run.end();
      throw error;
    }
  }

  get urls(): string[] {
    return Array.from({ length: NODES }, (_, node) => `mysql://root@127.0.0.1:${this.cluster.port + node}/`);
  }

  /** Like a power failure. */
  async kill(node: number): Promise<void> {
    const pid = Number((await readFile(`${this.cluster.dir}-${node}/server.pid`, 'utf8')).split(' ')[0]);
    process.kill(pid, 'SIGKILL');
    await eventually(async () => (await processStartTime(pid)) === undefined);
  }

  /** Resolves when all nodes have rejoined the cluster. */
  async restartNodes(): Promise<void> {
    await this.cluster.up();
  }

  end(): Promise<void> {
    return this.run.end();
  }
}

/** The indexes of the nodes that answer and accept writes. */
export async function findWritableNodes(urls: readonly string[]): Promise<number[]> {
  const found: number[] = [];
  for (const [node, url] of urls.entries()) {
    const connection = await connectToWritableNode([url]).catch(() => undefined);
    if (connection) found.push(node);
    await connection?.end();
  }
  return found;
}

/** The first node that answers, accepts writes, and sees all commits of the cluster. */
export async function connectToWritableNode(urls: readonly string[]): Promise<mysql.Connection> {
  let problem: unknown;
  for (const url of urls) {
    try {
      const connection = await mysql.createConnection({ uri: url, connectTimeout: 2_000 });
      const [rows] = await connection.query<mysql.RowDataPacket[]>('SELECT @@GLOBAL.read_only AS no');
      if (Number(rows[0]!['no']) === 0) return connection;
      await connection.end();
    } catch (error) {
      problem = error;
    }
  }
  throw new Error('no node may be written to', { cause: problem });
}
