import { transform } from '@swc/core';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { rollup } from 'rollup';
import type { QueueEvent } from '../../lib/job/queue-event.js';
import { cached } from './cached.js';
import { EventLog } from './event-log.js';
import { breakFence } from './torture/broken-fences.js';
import { shiftableClock } from './torture/shiftable-clock.js';

const ROOT = join(import.meta.dirname, '../..');
const SOURCES = ['lib', 'test/support', 'test/faults/programs'];
// A worker looks for the program of its thread beside its own code.
const THREAD = 'lib/worker/heartbeat/heartbeat-program.ts';

let compiling: Promise<string> | undefined;

/** A message of a program to the test. */
export type ProgramMessage =
  { ready: true } | { event: QueueEvent } | { text: string; job?: number } | { /** Jobs so far. */ completed: number };

/** A program of test/faults/programs in a process of its own. */
export class ProgramProcess {
  readonly events = new EventLog();
  readonly messages: { text: string; job?: number }[] = [];
  readonly ended: Promise<unknown>;
  #waiting: (() => void)[] = [];
  hasEnded = false;
  /** The number of completed jobs that it has reported. */
  completed = 0;

  /** Its standard error so far. */
  errorOutput = '';

  private constructor(private readonly child: ChildProcess) {
    this.ended = once(child, 'exit');
    child.on('exit', () => {
      this.hasEnded = true;
      this.#wakeWaiting();
    });
    child.on('message', (message: ProgramMessage) => this.#receive(message));
    child.stderr!.on('data', (chunk: Buffer) => {
      this.errorOutput += chunk.toString();
      process.stderr.write(chunk);
    });
  }

  /** Resolves when the program reports that it is ready. */
  static async start(name: string, settings: object, env: Record<string, string> = {}): Promise<ProgramProcess> {
    const file = join(await (compiling ??= compile()), `${name}.js`);
    const child = fork(file, [JSON.stringify(settings)], {
      env: { ...process.env, NODE_OPTIONS: '', ...env },
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    });
    const program = new ProgramProcess(child);
    await program.untilMessage('ready');
    return program;
  }

  /** Null while it runs, or if a signal ended it. */
  get exitCode(): number | null {
    return this.child.exitCode;
  }

  get pid(): number {
    return this.child.pid!;
  }

  /** Resolves when the program has sent this message, or has ended. */
  async untilMessage(text: string, job?: number): Promise<void> {
    const isReceived = () => this.messages.some((one) => one.text === text && (job === undefined || one.job === job));
    while (!isReceived() && !this.hasEnded) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  send(message: object): void {
    this.child.send(message);
  }

  /** Sends the signal to this process only. */
  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  async kill(): Promise<void> {
    if (!this.hasEnded) this.child.kill('SIGKILL');
    await this.ended;
  }

  /** Lets it finish its work and waits for its end. */
  async stop(): Promise<void> {
    if (!this.hasEnded) this.send({ stop: true });
    await this.ended;
  }

  #receive(message: ProgramMessage): void {
    if ('event' in message) this.events.add(message.event);
    else if ('completed' in message) this.completed = message.completed;
    else this.messages.push('ready' in message ? { text: 'ready' } : message);
    this.#wakeWaiting();
  }

  #wakeWaiting(): void {
    this.#waiting.splice(0).forEach((wake) => wake());
  }
}

/** Returns the folder of the compiled programs. */
async function compile(): Promise<string> {
  const files = await sources();
  const texts = new Map<string, string>();
  for (const file of files) texts.set(file, adaptSource(file, await readFile(join(ROOT, file), 'utf8')));
  return cached('programs', texts, async (folder) => {
    await bundle(
      files.filter((file) => file === THREAD || file.startsWith('test/faults/programs/')),
      texts,
      folder,
    );
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }\n');
  });
}

function adaptSource(file: string, text: string): string {
  return shiftableClock(file, breakFence(file, text));
}

/** The paths of all sources below the root. */
async function sources(): Promise<string[]> {
  const found: string[] = [];
  for (const folder of SOURCES) {
    const names = await readdir(join(ROOT, folder), { recursive: true });
    found.push(...names.filter((name) => name.endsWith('.ts')).map((name) => join(folder, name)));
  }
  return found.filter((file) => !file.endsWith('.spec.ts')).sort();
}

/** Makes a few files of all modules: Node takes twice as long to load hundreds of them, for each process of a test. */
async function bundle(programs: readonly string[], texts: ReadonlyMap<string, string>, folder: string): Promise<void> {
  const modules = await rollup({
    input: Object.fromEntries(programs.map((file) => [basename(file, '.ts'), file])),
    treeshake: false,
    plugins: [
      {
        name: 'sources',
        resolveId: (imported, from) => {
          if (from === undefined) return imported;
          if (!imported.startsWith('.')) return { id: imported, external: true };
          return relative(ROOT, resolve(ROOT, dirname(from), imported.replace(/js$/, 'ts')));
        },
        load: (file) => compileText(file, texts.get(file)!),
      },
    ],
  });
  await modules.write({ dir: folder, format: 'es' });
  await modules.close();
}

async function compileText(file: string, text: string): Promise<string> {
  const { code } = await transform(text, {
    filename: file,
    swcrc: false,
    configFile: false,
    jsc: { target: 'es2022', parser: { syntax: 'typescript', decorators: true }, keepClassNames: true },
    module: { type: 'es6' },
  });
  return code;
}
