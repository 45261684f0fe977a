import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { installLibrary } from '../support/built-library.js';
import { installPackages } from '../support/install-packages.js';

const root = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

/** Each kind of project that `nest new` creates. */
export const TEMPLATES = {
  'Nest 11': { packages: 'nest11', options: [] },
  'Nest 12 as ES modules': { packages: 'nest12', options: ['--type=esm'] },
  'Nest 12 as CommonJS': { packages: 'nest12', options: ['--type=cjs'] },
};

/** What the library needs at run time, and the driver that fits the running Node. */
const FROM_THE_REPOSITORY = ['better-sqlite3', 'croner', 'fastest-levenshtein'];

export interface Output {
  readonly code: number;
  readonly text: string;
}

/** A new project in a temporary folder, with the published form of the library. */
export class Project {
  readonly #parent: string;
  readonly #template: keyof typeof TEMPLATES;

  private constructor(parent: string, template: keyof typeof TEMPLATES) {
    this.#parent = parent;
    this.#template = template;
  }

  static async create(template: keyof typeof TEMPLATES): Promise<Project> {
    const { packages, options } = TEMPLATES[template];
    const folder = join(import.meta.dirname, packages);
    await installPackages(folder);
    const project = new Project(await mkdtemp(join(tmpdir(), 'sql-queue-schematics-')), template);
    await symlink(join(folder, 'node_modules'), join(project.#parent, 'node_modules'), 'dir');
    const application = ['@nestjs/schematics:application', '--name=app', ...options];
    await project.#program('@angular-devkit/schematics-cli/bin/schematics.js', application, project.#parent);
    await mkdir(project.path('node_modules'), { recursive: true });
    for (const name of FROM_THE_REPOSITORY)
      await symlink(join(root, 'node_modules', name), project.path('node_modules', name), 'dir');
    await installLibrary(project.path('node_modules/nestjs-sql-queue'));
    return project;
  }

  path(...names: string[]): string {
    return join(this.#parent, 'app', ...names);
  }

  read(file: string): Promise<string> {
    return readFile(this.path(file), 'utf8');
  }

  write(file: string, text: string): Promise<void> {
    return writeFile(this.path(file), text);
  }

  has(file: string): boolean {
    return existsSync(this.path(file));
  }

  /** The extension of a relative import in this project. */
  get extension(): string {
    return this.#template === 'Nest 12 as ES modules' ? '.js' : '';
  }

  nest(...args: string[]): Promise<Output> {
    return this.#program('@nestjs/cli/bin/nest.js', args);
  }

  /** Runs a schematic without `nest`, which would ask the registry for the package first. */
  schematic(name: string, env: NodeJS.ProcessEnv = {}): Promise<Output> {
    const program = '@angular-devkit/schematics-cli/bin/schematics.js';
    return this.#program(program, [`nestjs-sql-queue:${name}`, '--source-root=src'], this.path(), env);
  }

  node(file: string): Promise<Output> {
    return this.#node([this.path(file)]);
  }

  /** The script `test` of the project. */
  test(): Promise<Output> {
    if (this.#template === 'Nest 12 as ES modules') return this.#program('vitest/vitest.mjs', ['run']);
    const flags = this.#template === 'Nest 11' ? [] : ['--experimental-vm-modules'];
    return this.#node([...flags, this.#script('jest/bin/jest.js')]);
  }

  /** The script `lint` of the project, without repairs. */
  lint(): Promise<Output> {
    return this.#template === 'Nest 11'
      ? this.#program('eslint/bin/eslint.js', ['src/**/*.ts'])
      : this.#program('oxlint/bin/oxlint', ['--type-aware', 'src/']);
  }

  remove(): Promise<void> {
    return rm(this.#parent, { recursive: true, force: true });
  }

  #script(program: string): string {
    return join(this.#parent, 'node_modules', program);
  }

  #program(program: string, args: string[], cwd?: string, env?: NodeJS.ProcessEnv): Promise<Output> {
    return this.#node([this.#script(program), ...args], cwd, env);
  }

  async #node(args: string[], cwd = this.path(), env: NodeJS.ProcessEnv = {}): Promise<Output> {
    // Vitest sets variables for its own tests.
    const inherited = Object.entries(process.env).filter(
      ([name]) => !/^(VITEST|NODE_ENV|NODE_OPTIONS|TEST)/.test(name),
    );
    const options = { cwd, env: { ...Object.fromEntries(inherited), NO_COLOR: '1', ...env }, maxBuffer: 10_000_000 };
    const ended = await run(process.execPath, args, options).catch(
      (error: { code: number; stdout: string; stderr: string }) => error,
    );
    return { code: 'code' in ended ? ended.code : 0, text: ended.stdout + ended.stderr };
  }
}
