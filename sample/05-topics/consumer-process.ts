import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A consumer's process, as main.ts starts and ends it. */
export class ConsumerProcess {
  readonly #ended: Promise<unknown>;

  private constructor(private readonly child: ChildProcess) {
    this.#ended = once(child, 'exit');
  }

  /** Resolves when it works; by then it gets its copies. */
  static async start(queue: string): Promise<ConsumerProcess> {
    const child = fork(fileURLToPath(new URL('consumer.js', import.meta.url)), [queue]);
    const started = new ConsumerProcess(child);
    const up = await Promise.race([once(child, 'message').then(() => true), started.#ended.then(() => false)]);
    if (!up) throw new Error(`${queue} did not start`);
    return started;
  }

  /** As a power cut would: it has no chance to say anything. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.#ended;
  }

  /** Lets it end what it is at. */
  async stop(): Promise<void> {
    if (this.child.connected) this.child.disconnect();
    await this.#ended;
  }
}
