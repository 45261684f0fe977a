import { transform } from '@swc/core';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { QueueEvent } from '../../lib/job/queue-event.js';
import { cached } from './cached.js';
import { EventLog } from './event-log.js';
import { broken } from './torture/breaks.js';

const ROOT = join(import.meta.dirname, '../..');
const SOURCES = ['lib', 'test/support', 'test/faults/programs'];

let compiling: Promise<string> | undefined;

/** What a program tells the test. */
export type Told =
  { ready: true } | { event: QueueEvent } | { said: string; job?: number } | { /** Jobs so far. */ completed: number };

/** A program of test/faults/programs in a process of its own. */
export class ProgramProcess {
  readonly events = new EventLog();
  readonly said: { said: string; job?: number }[] = [];
  readonly ended: Promise<unknown>;
  #waiting: (() => void)[] = [];
  hasEnded = false;
  /** Jobs that it says it has completed. */
  completed = 0;

  private constructor(private readonly child: ChildProcess) {
    this.ended = once(child, 'exit');
    child.on('exit', () => {
      this.hasEnded = true;
      this.#wakeWaiting();
    });
    child.on('message', (told: Told) => this.#hear(told));
  }

  /** Resolves when the program says that it is ready. */
  static async start(name: string, settings: object, env: Record<string, string> = {}): Promise<ProgramProcess> {
    const file = join(await (compiling ??= compile()), 'test/faults/programs', `${name}.js`);
    const child = fork(file, [JSON.stringify(settings)], {
      execArgv: ['--enable-source-maps'],
      env: { ...process.env, NODE_OPTIONS: '', ...env },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const program = new ProgramProcess(child);
    await program.untilSaid('ready');
    return program;
  }

  /** Null where it runs, or was ended by a signal. */
  get exitCode(): number | null {
    return this.child.exitCode;
  }

  get pid(): number {
    return this.child.pid!;
  }

  /** Resolves when the program has said so, or has ended. */
  async untilSaid(said: string, job?: number): Promise<void> {
    const heard = () => this.said.some((one) => one.said === said && (job === undefined || one.job === job));
    while (!heard() && !this.hasEnded) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  tell(message: object): void {
    this.child.send(message);
  }

  /** Sends the signal to this process and to no other. */
  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  async kill(): Promise<void> {
    if (!this.hasEnded) this.child.kill('SIGKILL');
    await this.ended;
  }

  /** Lets it end its work in order. */
  async stop(): Promise<void> {
    if (!this.hasEnded) this.tell({ stop: true });
    await this.ended;
  }

  #hear(told: Told): void {
    if ('event' in told) this.events.add(told.event);
    else if ('completed' in told) this.completed = told.completed;
    else this.said.push('ready' in told ? { said: 'ready' } : told);
    this.#wakeWaiting();
  }

  #wakeWaiting(): void {
    this.#waiting.splice(0).forEach((look) => look());
  }
}

/** The folder of the compiled programs. */
async function compile(): Promise<string> {
  const files = await sources();
  const texts = await Promise.all(
    files.map(async (file) => broken(relative(ROOT, file), await readFile(file, 'utf8'))),
  );
  const paths = files.map((file) => relative(ROOT, file));
  return cached('programs', new Map(paths.map((path, index) => [path, texts[index]!])), async (folder) => {
    await Promise.all(
      files.map((file, index) => compileFile(file, texts[index]!, join(folder, paths[index]!.replace(/ts$/, 'js')))),
    );
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }\n');
  });
}

async function sources(): Promise<string[]> {
  const found: string[] = [];
  for (const folder of SOURCES) {
    const names = await readdir(join(ROOT, folder), { recursive: true });
    found.push(...names.filter((name) => name.endsWith('.ts')).map((name) => join(ROOT, folder, name)));
  }
  return found.filter((file) => !file.endsWith('.spec.ts') && !file.includes('/lib/nest/')).sort();
}

async function compileFile(file: string, text: string, target: string): Promise<void> {
  const { code } = await transform(text, {
    filename: file,
    swcrc: false,
    configFile: false,
    jsc: { target: 'es2022', parser: { syntax: 'typescript', decorators: true }, keepClassNames: true },
    module: { type: 'es6' },
    sourceMaps: 'inline',
  });
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, code);
}
