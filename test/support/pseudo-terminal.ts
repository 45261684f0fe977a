import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

// The shell is the one of the terminal, as at home: it sees the state in which the command leaves the terminal.
const SHELL = `
  [ -z "$SIZE" ] || stty rows "\${SIZE% *}" cols "\${SIZE#* }"
  before=$(stty -g)
  sh -c 'echo "pid $$"; exec "$@"' sh "$@"
  echo "exit code $?"
  [ "$before" = "$(stty -g)" ] && echo 'settings restored'
  `;
const EXIT_CODE = /exit code (\d+)/;

const CLEAR = '\x1b[2J';
// oxlint-disable-next-line no-control-regex
const COLOUR = /\x1b\[\d+m/g;
const MODES = { alternateScreen: 1049, cursor: 25, wrap: 7 } as const;

/**
 * A command in a real terminal, in which a test presses keys and reads the screen. `script` of util-linux, a part of
 * every Debian, creates the terminal.
 */
export class PseudoTerminal {
  #output = '';
  #waiting: (() => void)[] = [];
  #hasEnded = false;

  private constructor(private readonly child: ChildProcess) {
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.#output += text;
      this.#wakeWaiting();
    });
    child.once('close', () => {
      this.#hasEnded = true;
      this.#wakeWaiting();
    });
  }

  /** @param size lines and columns. Null: it has none, as a serial line. */
  static start(
    command: readonly string[],
    { env, size }: { env: NodeJS.ProcessEnv; size: readonly [number, number] | null },
  ): PseudoTerminal {
    const words = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
    const child = spawn('script', ['--quiet', '--command', `set -- ${words}\n${SHELL}`, '/dev/null'], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...env, SHELL: '/bin/sh', SIZE: size?.join(' ') ?? '' },
    });
    // Keys may come after the end.
    child.stdin.on('error', () => {});
    return new PseudoTerminal(child);
  }

  /** The lines since the screen was cleared for the last time, without colours. */
  get screen(): string {
    return this.colouredScreen.replaceAll(COLOUR, '');
  }

  get colouredScreen(): string {
    return this.#output.slice(this.#output.lastIndexOf(CLEAR) + CLEAR.length).replaceAll(/\r+\n/g, '\n');
  }

  /** Whether each mode is on. Undefined if no program has switched it. */
  get modes(): Record<keyof typeof MODES, boolean | undefined> {
    const isOn = (mode: number) => {
      const [on, off] = ['h', 'l'].map((last) => this.#output.lastIndexOf(`\x1b[?${mode}${last}`));
      return on === off ? undefined : on! > off!;
    };
    return { alternateScreen: isOn(MODES.alternateScreen), cursor: isOn(MODES.cursor), wrap: isOn(MODES.wrap) };
  }

  /** The exit code of the command, and whether the settings of the terminal are the same as before it. */
  get end(): { exitCode: number; isRestored: boolean } {
    return {
      exitCode: Number(EXIT_CODE.exec(this.#output)?.[1]),
      isRestored: this.#output.includes('settings restored'),
    };
  }

  get pid(): number {
    return Number(/pid (\d+)/.exec(this.#output)![1]);
  }

  press(keys: string): void {
    this.child.stdin!.write(keys);
  }

  /** Resolves when the screen matches. */
  async untilScreen(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.screen)) {
      if (this.#hasEnded) throw new Error(`expected a screen that matches ${pattern}, got: ${this.#output}`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  async untilEnd(): Promise<void> {
    if (!this.#hasEnded) await once(this.child, 'close');
  }

  /** Closes the terminal. The kernel then ends the command with SIGHUP. */
  async close(): Promise<void> {
    if (!this.#hasEnded) this.child.kill('SIGKILL');
    await this.untilEnd();
  }

  #wakeWaiting(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
