import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import mysql from 'mysql2/promise';
import { eventually } from './eventually.js';
import { processStartTime } from './process-start-time.js';
import type { TestConnection, TestServer } from './servers.js';

// The parts of scripts/databases/servers.mjs that this class uses.
interface ServerRun {
  server(kind: string, profile: string): Promise<{ url?: string; reason?: string }>;
  file(name: string): string;
  end(): Promise<void>;
}
const SERVERS = '../../scripts/databases/servers.mjs';

/** A durable server for one test, which may stop and restart it. */
export class OwnServer {
  private constructor(
    private readonly run: ServerRun,
    private readonly name: 'mysql' | 'mariadb',
    private readonly url: URL,
  ) {}

  static async start(name: 'mysql' | 'mariadb'): Promise<OwnServer> {
    const { ServerRun } = (await import(SERVERS)) as { ServerRun: { begin(): Promise<ServerRun> } };
    const run = await ServerRun.begin();
    // A server given by the environment must not be restarted.
    delete process.env[`${name.toUpperCase()}_URL`];
    const { url, reason } = await run.server(name, 'durable');
    if (url === undefined) {
      await run.end();
      throw new Error(`Cannot start a ${name} of this test's own: ${reason}`);
    }
    return new OwnServer(run, name, new URL(url));
  }

  get server(): TestServer {
    return { name: this.name, url: this.url.href };
  }

  connectionTo(database: string): TestConnection {
    const url = new URL(this.url);
    url.pathname = `/${database}`;
    return { type: this.name, url: url.href };
  }

  async emptyDatabase(database: string): Promise<TestConnection> {
    const admin = await mysql.createConnection(this.url.href);
    await admin.query(`CREATE DATABASE ${database}`);
    await admin.end();
    return this.connectionTo(database);
  }

  /**
   * Restarts the server on the same files with the same command. SIGKILL acts like a power failure, SIGTERM is a clean
   * stop.
   *
   * @param options further options of the server, which hold instead of those before
   */
  async restart(signal: 'SIGKILL' | 'SIGTERM', options: readonly string[] = []): Promise<void> {
    const startAgain = await this.stop(signal, options);
    await startAgain();
  }

  /** Returns a function that starts the server again, on the same files with the same command. */
  async stop(signal: 'SIGKILL' | 'SIGTERM', options: readonly string[] = []): Promise<() => Promise<void>> {
    const pid = Number((await readFile(this.#pidFile, 'utf8')).split(' ')[0]);
    const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').slice(0, -1);
    process.kill(pid, signal);
    await eventually(async () => (await processStartTime(pid)) === undefined);
    // The lock file may name an unreaped process, which MySQL would take for another server.
    await rm(join(dirname(this.#pidFile), 's.sock.lock'), { force: true });
    return () => this.#startAgain([...command, ...options]);
  }

  async #startAgain(command: readonly string[]): Promise<void> {
    const again = spawn(command[0]!, command.slice(1), { detached: true, stdio: 'ignore' });
    again.unref();
    // From here on, the cleanup finds the new process.
    await writeFile(this.#pidFile, `${again.pid} ${await processStartTime(again.pid!)}\n`);
    await eventually(() => this.#isAnswering());
  }

  end(): Promise<void> {
    return this.run.end();
  }

  get #pidFile(): string {
    return join(this.run.file(`${this.name}-${this.url.port}`), 'server.pid');
  }

  async #isAnswering(): Promise<boolean> {
    const socket = connect(Number(this.url.port), this.url.hostname);
    const greeting = once(socket, 'data').then(
      () => true,
      () => false,
    );
    const answers = await Promise.race([
      greeting,
      once(socket, 'close').then(
        () => false,
        () => false,
      ),
    ]);
    socket.destroy();
    return answers;
  }
}
