import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A program of a sample in a process of its own. It sends a message when it works, and ends if it is disconnected. */
export class ForkedProcess {
  readonly #ended: Promise<unknown>;

  private constructor(private readonly child: ChildProcess) {
    this.#ended = once(child, 'exit');
  }

  /** Resolves when the program works. */
  static async start(program: URL, ...args: string[]): Promise<ForkedProcess> {
    const child = fork(fileURLToPath(program), args);
    const started = new ForkedProcess(child);
    const up = await Promise.race([once(child, 'message').then(() => true), started.#ended.then(() => false)]);
    if (!up) throw new Error(`${[program.pathname, ...args].join(' ')} did not start`);
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
