import { readFile } from 'node:fs/promises';
import mysql from 'mysql2/promise';
import { eventually } from './eventually.js';
import { startOf } from './own-server.js';

// scripts/databases/servers.mjs, as far as it is used here.
interface ClusterRun {
  cluster(kind: string, profile: string): Promise<{ port: number; dir: string; up(): Promise<void> }>;
  end(): Promise<void>;
}
const SERVERS = '../../scripts/databases/servers.mjs';
const NODES = 3;

export type ClusterName = 'galera' | 'group-replication';

/** Three nodes of one test's own, durable, that it may kill and bring back. */
export class OwnCluster {
  private constructor(
    private readonly run: ClusterRun,
    private readonly made: { port: number; dir: string; up(): Promise<void> },
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
    return Array.from({ length: NODES }, (_, node) => `mysql://root@127.0.0.1:${this.made.port + node}/`);
  }

  /** As if its power went. */
  async kill(node: number): Promise<void> {
    const pid = Number((await readFile(`${this.made.dir}-${node}/server.pid`, 'utf8')).split(' ')[0]);
    process.kill(pid, 'SIGKILL');
    await eventually(async () => (await startOf(pid)) === undefined);
  }

  /** Resolves when all nodes are in the cluster again. */
  async revive(): Promise<void> {
    await this.made.up();
  }

  end(): Promise<void> {
    return this.run.end();
  }
}

/** Which of these nodes answer and may be written to. */
export async function writableNodes(urls: readonly string[]): Promise<number[]> {
  const able: number[] = [];
  for (const [node, url] of urls.entries()) {
    const connection = await writable([url]).catch(() => undefined);
    if (connection) able.push(node);
    await connection?.end();
  }
  return able;
}

/** The first of these nodes that answers and may be written to, and sees all that any of them has committed. */
export async function writable(urls: readonly string[]): Promise<mysql.Connection> {
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
