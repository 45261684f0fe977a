import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

export interface SampleStart {
  main: string;
  args: string[];
  cwd: string;
  env: Record<string, string | undefined>;
}

/** A running sample from the view of its user: its output, its end, and Ctrl-C. */
export class SampleProcess {
  output = '';
  /** Resolves to the exit code, or to the signal that ended it. */
  readonly ended: Promise<number | string>;
  readonly #child: ChildProcess;
  #onOutput: (() => void)[] = [];
  #hasEnded = false;

  constructor({ main, args, cwd, env }: SampleStart) {
    this.#child = spawn(process.execPath, [main, ...args], {
      cwd,
      env: { ...process.env, NODE_OPTIONS: '', NO_COLOR: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.output += text;
        this.#wake();
      });
    }
    // 'close' comes after the last output.
    this.ended = once(this.#child, 'close').then(([code, signal]) => (code ?? signal) as number | string);
    this.#child.once('close', () => {
      this.#hasEnded = true;
      this.#wake();
    });
  }

  /** Resolves with the first match as soon as it is printed. Rejects if the process ends without a match. */
  async until(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.output);
      if (match) return match;
      if (this.#hasEnded) throw new Error(`It ended without printing ${pattern}:\n${this.output}`);
      await new Promise<void>((resolve) => this.#onOutput.push(resolve));
    }
  }

  ctrlC(): void {
    this.#child.kill('SIGINT');
  }

  kill(): void {
    if (!this.#hasEnded) this.#child.kill('SIGKILL');
  }

  /** The number in the first group of the pattern. */
  number(pattern: RegExp): number {
    const match = pattern.exec(this.output);
    if (!match) throw new Error(`It did not print ${pattern}:\n${this.output}`);
    return Number(match[1]);
  }

  #wake(): void {
    this.#onOutput.splice(0).forEach((resolve) => resolve());
  }
}
