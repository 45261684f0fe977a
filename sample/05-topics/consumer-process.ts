import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A consumer's process, which main.ts starts and ends. */
export class ConsumerProcess {
  readonly #ended: Promise<unknown>;

  private constructor(private readonly child: ChildProcess) {
    this.#ended = once(child, 'exit');
  }

  /** Resolves when the consumer has subscribed and works. */
  static async start(queue: string): Promise<ConsumerProcess> {
    const child = fork(fileURLToPath(new URL('consumer.js', import.meta.url)), [queue]);
    const started = new ConsumerProcess(child);
    const up = await Promise.race([once(child, 'message').then(() => true), started.#ended.then(() => false)]);
    if (!up) throw new Error(`${queue} did not start`);
    return started;
  }

  /** Ends the process without any clean-up, like a power cut. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.#ended;
  }

  /** Lets the process complete its running job and end. */
  async stop(): Promise<void> {
    if (this.child.connected) this.child.disconnect();
    await this.#ended;
  }
}
