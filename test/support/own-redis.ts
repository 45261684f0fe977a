import { once } from 'node:events';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { freePort } from './free-port.js';

// The parts of scripts/databases/servers.mjs that this class uses.
interface ServerRun {
  file(name: string): string;
  spawn(program: string, args: readonly string[], options: object): ChildProcess;
  end(): Promise<void>;
}
const scripts = join(import.meta.dirname, '../../scripts/databases');

/** A Redis for one test file, without a file of its own data. */
export class OwnRedis {
  private constructor(
    private readonly run: ServerRun,
    readonly url: string,
  ) {}

  static async start(): Promise<OwnRedis> {
    const { ServerRun } = (await import(join(scripts, 'servers.mjs'))) as {
      ServerRun: { begin(): Promise<ServerRun> };
    };
    const run = await ServerRun.begin();
    const port = await freePort();
    const child = run.spawn('bash', [join(scripts, 'redis-up.sh'), run.file('redis'), String(port), 'off'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let log = '';
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (log += text));
    const [code] = (await once(child, 'close')) as [number];
    if (code !== 0) {
      await run.end();
      throw new Error(`Cannot start a Redis: ${log}`);
    }
    return new OwnRedis(run, `redis://127.0.0.1:${port}`);
  }

  end(): Promise<void> {
    return this.run.end();
  }
}
