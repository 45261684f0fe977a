import { transform } from '@swc/core';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { eventually } from '../../support/eventually.js';

declare const NEST_MAJOR: number;

const root = resolve(import.meta.dirname, '../../..');

export interface ProgramResult {
  /** Null if it did not end within the timeout. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The library as JavaScript in a folder of its own, with the Nest version of this project of Vitest. */
export async function compileLibrary(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sql-queue-program-'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  const sources = (await readdir(join(root, 'lib'), { recursive: true })).filter((name) => name.endsWith('.ts'));
  await Promise.all(
    sources.map(async (name) => {
      const target = join(folder, 'lib', name.replace(/\.ts$/, '.js'));
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, await compile(await readFile(join(root, 'lib', name), 'utf8')));
    }),
  );
  await linkModules(folder);
  return folder;
}

/** Runs a TypeScript program beside the compiled library, and waits for its end. */
export async function runProgram(folder: string, source: string, timeoutMs = 120_000): Promise<ProgramResult> {
  const file = join(folder, 'program.js');
  await writeFile(file, await compile(source));
  return new Promise((settle) => {
    const options = { cwd: folder, timeout: timeoutMs, env: { ...process.env, NODE_OPTIONS: '' } };
    const child = execFile(process.execPath, [file], options, (_error, stdout, stderr) =>
      settle({ code: child.exitCode, stdout, stderr }),
    );
  });
}

/** A TypeScript program beside the compiled library that exchanges messages with the test. */
export class RunningProgram {
  output = '';
  readonly ended: Promise<unknown>;

  private constructor(private readonly child: ChildProcess) {
    this.ended = once(child, 'close');
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => (this.output += chunk));
    }
  }

  static async start(folder: string, source: string): Promise<RunningProgram> {
    const file = join(folder, 'program.js');
    await writeFile(file, await compile(source));
    return new RunningProgram(
      spawn(process.execPath, [file], { cwd: folder, env: { ...process.env, NODE_OPTIONS: '' } }),
    );
  }

  get exitCode(): number | null {
    return this.child.exitCode;
  }

  async untilOutput(...lines: readonly string[]): Promise<void> {
    await eventually(() => lines.every((line) => this.output.includes(line)) || this.exitCode !== null);
    if (this.exitCode !== null) throw new Error(`The program ended with ${this.exitCode}: ${this.output}`);
  }

  send(line: string): void {
    this.child.stdin!.end(`${line}\n`);
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }
}

async function compile(source: string): Promise<string> {
  const { code } = await transform(source, {
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true },
      keepClassNames: true,
    },
    module: { type: 'es6' },
  });
  return code;
}

async function linkModules(folder: string): Promise<void> {
  const modules = join(folder, 'node_modules');
  await mkdir(modules);
  const nest = NEST_MAJOR === 11 ? 'test/nest11/node_modules/@nestjs' : 'node_modules/@nestjs';
  const others = (await readdir(join(root, 'node_modules'))).filter(
    (name) => !name.startsWith('.') && name !== '@nestjs',
  );
  await Promise.all(others.map((name) => symlink(join(root, 'node_modules', name), join(modules, name))));
  await symlink(join(root, nest), join(modules, '@nestjs'));
}
